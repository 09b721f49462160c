"""Options that act, for programs whose options were not all gone through (see ``options`` for the others).

They make the program run something else, read its orders from a file, or write a file of its own. A wildcard does not
cover them. Most of these programs run the project's code in any case. ``!`` marks a word that acts in none of these
ways, though it begins like one that does: these programs take no abbreviations.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from .programs import INLINE_CODE

_LISTED: Final[dict[str, str]] = {
    "bun": "-e -p -r --eval --print --require --import eval --cwd -c --config --preload --shell",
    "npm": """
        --script-shell --prefix -C --shell --node-options --userconfig --globalconfig --call --git --browser --editor
        --viewer --node-gyp --python --init-module --onload-script
    """,
    "yarn": "--script-shell --cwd --use-yarnrc",
    "pnpm": "--script-shell --dir -C --shell-mode -c --config.script-shell",
    "cargo": "--config -C -Z --manifest-path --target-dir --artifact-dir --out-dir --root --path",
    "pip": """
        --target -t --prefix --root --python --global-option --install-option --src --log --config-settings -C
        --build --trusted-host --report
    """,
    "uv": "--directory --project --python --config-file --target --prefix -p",
    "bash": "-c -i --rcfile --init-file",
    "eslint": """
        -c --config --rulesdir --plugin --resolve-plugins-relative-to --parser -o --output-file -f --format
        --flag
    """,
    "tsc": """
        --outDir --outFile --declarationDir --tsBuildInfoFile --generateTrace --generateCpuProfile -outDir -outFile
        -declarationDir -tsBuildInfoFile -generateTrace -generateCpuProfile
    """,
    "gh": "-F --body-file --notes-file --input --recover -D --dir --output !--body !--notes",
    "docker podman": "--config",
    "kubectl": "--kubeconfig --cache-dir --profile-output --log-file",
    "prettier": "--config --plugin --plugin-search-dir --ignore-path --cache-location",
    "jest": """
        -c --config --globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv --testRunner --runner
        --reporters --transform --resolver --rootDir --env --testEnvironment --testResultsProcessor
        --watchPlugins --snapshotSerializers --prettierPath --filter --moduleNameMapper --outputFile
        --cacheDirectory --coverageDirectory --preset !--coverage !--env=jsdom !--env=node
    """,
    "vitest": """
        -c --config --root -r --dir --reporter --outputFile --globalSetup --environment !--reporter=dot
        !--reporter=default !--reporter=verbose !--reporter=basic !--reporter=tap !--reporter=json !--environment=jsdom
        !--environment=node
    """,
    "mocha": "-r --require --config --opts --ui --reporter -R --file --import --loader",
    "webpack vite rollup babel tsx ts-node swc esbuild next nuxt": """
        -c --config -r --require -e --eval -p --print --plugin --config-file
    """,
    "mvn": "single -f --file -s --settings -gs --global-settings -D -t --toolchains -l",
    "gradle gradlew": """
        -I --init-script -b --build-file -c --settings-file -p --project-dir -D -g --gradle-user-home -P
        --include-build
    """,
    "bazel": "--run_under --bazelrc --override_repository --action_env --shell_executable",
    "cmake": "-P -E -D -C --install-prefix -G",
    "ninja": "-f -C -t",
    "rake rspec rubocop cucumber": "-f -r --require -e -E -p -R -I -o --out -c --config --options -O",
    "composer": "-d --working-dir",
    "phpunit": "--bootstrap -c --configuration --printer --extensions --log-junit",
    "mypy": """
        --config-file --python-executable --install-types --cache-dir --custom-typeshed-dir --junit-xml --html-report
        --txt-report --xml-report --cobertura-xml-report --linecount-report --any-exprs-report --linecoverage-report
        --lineprecision-report --memory-xml-report --xslt-html-report --xslt-txt-report
    """,
    "pylint": "--init-hook --load-plugins --rcfile --output",
    "flake8": "--config --append-config --output-file --tee",
    "ruff": "--config --cache-dir -o --output-file",
    "black": "--config -c --code",
    "tox nox pre-commit": "-c --config --workdir -f --noxfile -x --override",
    "gcc g++ cc c++ clang clang++": """
        single -wrapper -B -specs --specs -Xclang -Xlinker -Xassembler -Xpreprocessor -Wl -Wa -Wp -fplugin -fpass-plugin
        -load -mllvm --config -fuse-ld --ld-path -ld-path -iplugindir -MF -MJ -T -aux-info -dumpdir -dumpbase
        -dumpbase-ext -fprofile-dir -fprofile-generate -fprofile-note
    """,
    "ld ar nm objdump ranlib strip": "single -plugin --plugin -T --script -dynamic-linker --dynamic-linker -Map --Map",
    "as": "single -a",
    "openssl": "single -engine -provider -provider-path -config -out -keyout -writerand -CAserial",
    "gpg gpg2": """
        --agent-program --photo-viewer --exec-path --options --homedir -o --output --dirmngr-program --pinentry-program
        --load-extension --log-file --keyserver
    """,
    "nc ncat netcat": "-e -c --exec --sh-exec --lua-exec -o --output -x --hex-dump",
    "dc bc": "-e -f --expression --file",
    "cpio": "--rsh-command -F -O -I --file -p --pass-through -D --directory --absolute-filenames -E --pattern-file",
    "exiftool": "single -if -config -o -w -W -w+ -tagsFromFile -execute -@ -stay_open -p -userParam -geotag",
    "pandoc": """
        --filter -F --lua-filter -L --pdf-engine --pdf-engine-opt --extract-media --data-dir --log --defaults -d
        --syntax-definition
    """,
    "pdflatex latex xelatex lualatex tex luatex pdftex": """
        single -shell-escape --shell-escape -enable-write18 --enable-write18 -output-directory --output-directory
        -aux-directory -shell-restricted -output-comment -ini -fmt
    """,
    "gnuplot octave": "-e -c --eval",
    "helm": "--post-renderer --kubeconfig --registry-config --repository-config --repository-cache",
    "terraform tofu": "single -chdir -plugin-dir -out -state -state-out -backup -backend-config -generate-config-out",
    "ctest": "-S --script -O --output-log --build-and-test --output-junit",
    "swift": "single -e -frontend -interpret -Xfrontend -load-plugin-library -plugin-path",
    "redis-cli": "--eval --rdb --functions-rdb --pipe",
    "rustc": "-C -o --out-dir -Z --sysroot --emit",
    "java javac": """
        -cp -classpath --class-path -jar -processor -processorpath -d -agentlib -agentpath -javaagent -J
        -XX:OnError -XX:OnOutOfMemoryError
    """,
    "psql mysql mariadb": """
        -c --command -f --file -e --execute -o -L --output --log-file --tee --pager -v --set --variable
        --init-command --defaults-file --defaults-extra-file --plugin-dir --login-path
    """,
    "sqlite3": "-cmd -init -A",
    "tcpdump": "-z -w -r -F",
    "apt apt-get": "-o --option -c --config-file -t",
    "bat": "--pager --paging --config-file --diff-context",
    "yq": """
        -i --inplace -s --split-exp --from-file --split-exp-file --security-enable-system-operator
        --security-enable-system-operators
    """,
    "csplit": "-f --prefix -b --suffix-format",
    "git": """
        --upload-pack --receive-pack --exec --ext-diff --extcmd --output --open-files-in-pager --textconv -O
        -x -u -c --config --template
    """,
}
_BY_PROGRAM: Final[dict[str, tuple[str, ...]]] = INLINE_CODE | {
    name: tuple(options.split()) for names, options in _LISTED.items() for name in names.split()
}
_END_OF_NAME: Final = re.compile("[=:,]")


class ActingOptions:
    """The acting options of one program, as they may be written: abbreviated, bundled or with a value."""

    __slots__ = ("_beginnings", "_fronts", "_harmless", "_letters", "_words")

    def __init__(self, options: Sequence[str]) -> None:
        long = [option for option in options if option.startswith("--")]
        self._harmless = frozenset(option[1:] for option in options if option.startswith("!"))
        # GNU programs take any unambiguous beginning of a long option
        self._beginnings = frozenset(option[:end] for option in long for end in range(3, len(option) + 1))
        short = [option for option in options if len(option) == 2 and option[0] == "-"]
        single = "single" in options  # long options begin with one dash: ``-DTEST`` is not ``-T``, ``-Tfile`` is
        self._letters = frozenset[str]() if single else frozenset(option[1] for option in short)
        self._fronts = tuple(short) if single else ()
        self._words = frozenset(options).difference(long)

    def __contains__(self, word: str) -> bool:
        if not word.startswith("-"):
            return word in self._words
        name = word.partition("=")[0]
        if word.startswith("--"):
            return name in self._beginnings and word not in self._harmless and name not in self._harmless
        if not self._letters.isdisjoint(word[1:]) or word.startswith(self._fronts):
            return True
        return name in self._words or _END_OF_NAME.split(name, maxsplit=1)[0] in self._words


@cache
def acting_options(program: str) -> ActingOptions | None:
    """None where none is known."""
    options = _BY_PROGRAM.get(program)
    return ActingOptions(options) if options else None
