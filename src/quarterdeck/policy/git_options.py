"""The harmless options of git's subcommands, written as in ``options``; ``--no-…`` of each is harmless as well.

Left out on purpose: what runs a program (``--upload-pack``, ``--exec``, ``--ext-diff``, ``--textconv``, ``-O``
of grep),
what reads outside the repository (``--no-index``), what brings configuration or hooks (``-c``, ``--template``) and what
writes a file of its own (``--output``). A subcommand that is not listed has to be named in the rule: it may be
an alias.
"""

from __future__ import annotations

import re
from typing import Final

_DIFF: Final = """
    -abcimpqRrstuwWz :GIlSU ?BCDMX # --abbrev --abbrev= --anchored= --binary --break-rewrites --cc --check --color
    --color= --color-moved --color-moved= --color-moved-ws= --color-words --color-words= --combined-all-paths
    --compact-summary --cumulative --diff-algorithm= --diff-filter= --dirstat --dirstat= --dirstat-by-file --dst-prefix=
    --exit-code --find-copies --find-copies-harder --find-object= --find-renames --find-renames= --follow --full-index
    --function-context --histogram --ignore-all-space --ignore-blank-lines --ignore-cr-at-eol --ignore-matching-lines=
    --ignore-space-at-eol --ignore-space-change --ignore-submodules --indent-heuristic --inter-hunk-context=
    --irreversible-delete --line-prefix= --minimal --name-only --name-status --numstat --patch --patch-with-raw
    --patch-with-stat --patience --pickaxe-all --pickaxe-regex --no-prefix --no-ext-diff --no-textconv --quiet --raw
    --relative --relative= --rename-empty --renames --rotate-to= --shortstat --skip-to= --src-prefix= --stat --stat=
    --stat-count= --stat-width= --stat-name-width= --stat-graph-width= --submodule --submodule= --summary --text
    --unified= --word-diff --word-diff= --word-diff-regex= --ws-error-highlight= --no-renames --root --cached --staged
    --merge-base --ours --theirs --base
"""
_LOG: Final = (
    _DIFF
    + """
    -EFgP :nL --oneline --graph --all --decorate --decorate= --decorate-refs= --since= --until= --after= --before=
    --author= --committer= --grep= --format= --pretty --pretty= --abbrev-commit --merges --first-parent --reverse
    --branches --branches= --tags --tags= --remotes --remotes= --date= --max-count= --skip= --walk-reflogs
    --left-right --cherry-pick --cherry-mark --cherry --no-walk --boundary --simplify-by-decoration --full-history
    --ancestry-path --topo-order --date-order --author-date-order --show-signature --source --use-mailmap --mailmap
    --invert-grep --all-match --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --basic-regexp
    --min-parents= --max-parents= --not --glob= --exclude= --reflog --merge --notes --encoding= --relative-date
    --parents --children --count --dense --sparse --remove-empty --left-only --right-only --simplify-merges --objects
    --log-size --no-merges --diff-merges= --ignore-missing --show-pulls --graph-lane-limit= --date-mode= --no-decorate
"""
)
_REMOTE: Final = """
    -46afjkmnopqtuv --all --append --atomic --depth= --deepen= --dry-run --filter= --force --ipv4 --ipv6 --jobs= --keep
    --multiple --progress --prune --prune-tags --quiet --recurse-submodules --recurse-submodules= --refetch --refmap=
    --set-upstream --shallow-exclude= --shallow-since= --show-forced-updates --tags --unshallow --update-head-ok
    --update-shallow --verbose
"""
_MERGE: Final = """
    -enqv :SXms --allow-unrelated-histories --autostash --cleanup= --commit --continue --abort --quit --skip --edit --ff
    --ff-only --gpg-sign --log --message= --squash --stat --strategy= --strategy-option= --summary --verify
    --verify-signatures --signoff --quiet --verbose --progress --allow-empty --allow-empty-message --mainline=
    --no-commit --keep-redundant-commits --rerere-autoupdate --reference
"""
_LIST: Final = """
    -a --contains --contains= --format= --ignore-case --list --merged --merged= --no-contains --no-merged --points-at=
    --sort= --color --column --count= --abbrev= --verbose --quiet --all
"""

GIT_OPTIONS: Final[dict[str, str]] = {
    "git add": "-ANfinpuv --all --chmod= --dry-run --force --ignore-errors --ignore-missing --ignore-removal "
    "--intent-to-add --patch --refresh --renormalize --sparse --update --verbose",
    "git am": "-3ckmqsu --3way --abort --continue --keep --quiet --quit --signoff --skip --show-current-patch",
    "git apply": "-3NRqvz :Cp --3way --cached --check --index --numstat --quiet --recount --reject --reverse --stat "
    "--summary --verbose --whitespace= --ignore-whitespace",
    "git archive": "-lv >o --format= --list --output=> --prefix= --verbose",
    "git bisect": "--term-good= --term-bad= --first-parent",
    "git blame": "-bcefknpstwM :LC --abbrev= --color-lines --date= --ignore-rev= --incremental --line-porcelain "
    "--porcelain --reverse --root --show-email --show-name --show-number --since=",
    "git branch": _LIST + "-cCdDfimMqrtv :u --copy --create-reflog --delete --force --move --remotes "
    "--set-upstream-to= "
    "--show-current --track --unset-upstream --no-track",
    "git cat-file": "-epst --batch-check --textconv-disabled",
    "git check-ignore": "-nqvz --non-matching --quiet --verbose",
    "git checkout": "-23dflmqtp :bB --conflict= --detach --force --guess --merge --orphan= --ours --theirs --overlay "
    "--patch --progress --quiet --track --no-track",
    "git cherry": "-v --verbose --abbrev=",
    "git cherry-pick": _MERGE + "-x --no-edit",
    "git clean": "-dfinqxX :e --dry-run --exclude= --force --quiet",
    "git clone": "-46lnqsv :bjo --bare --branch= --depth= --filter= --jobs= --local --mirror --no-checkout --no-tags "
    "--origin= --progress --quiet --recurse-submodules --recursive --shallow-since= --shallow-submodules "
    "--single-branch --sparse --verbose",
    "git commit": "-aeinopqsvz :mcCu ?S <Ft --all --allow-empty --allow-empty-message --amend --author= --branch "
    "--cleanup= --date= --dry-run --edit --file=< --fixup= --gpg-sign --include --long --message= --no-edit "
    "--no-verify --only --patch --porcelain --quiet --reset-author --reuse-message= --short --signoff --squash= "
    "--status --trailer= --untracked-files --verbose --verify --no-gpg-sign",
    "git count-objects": "-Hv --verbose --human-readable",
    "git describe": "--abbrev= --all --always --contains --dirty --dirty= --exact-match --exclude= "
    "--first-parent --long "
    "--match= --tags --candidates=",
    "git diff": _DIFF,
    "git diff-tree": _DIFF + "-r --no-commit-id",
    "git diff-index": _DIFF,
    "git diff-files": _DIFF,
    "git fetch": _REMOTE,
    "git for-each-ref": _LIST,
    "git format-patch": _DIFF + "-kNns :v >o --attach --cover-letter --keep-subject --numbered --output-directory=> "
    "--rfc --signoff --stdout --subject-prefix= --start-number= --to= --cc= --from= --base= --root",
    "git fsck": "-v --full --strict --verbose --unreachable --dangling --no-dangling --connectivity-only --progress",
    "git gc": "-q --aggressive --auto --force --prune --prune= --quiet",
    "git grep": "-acEFGhHiIlLnopPqrvwWz :ABCem <f # --after-context= --all-match --and --basic-regexp "
    "--before-context= --break --cached --color --color= --column --context= --count --extended-regexp "
    "--files-with-matches --files-without-match --fixed-strings --full-name --function-context --heading "
    "--ignore-case --invert-match "
    "--line-number --max-count= --max-depth= --name-only --not --null --only-matching --or --perl-regexp --quiet "
    "--recurse-submodules --recursive --show-function --text --threads= --untracked --word-regexp",
    "git init": "-q :b --bare --initial-branch= --quiet",
    "git log": _LOG,
    "git ls-files": "-cdikmostuvz :x --abbrev= --cached --deduplicate --deleted --directory --eol --error-unmatch "
    "--exclude= --exclude-standard --format= --full-name --ignored --killed --modified --others --stage --unmerged",
    "git ls-remote": "-hqt --exit-code --get-url --heads --branches --quiet --refs --sort= --symref --tags",
    "git ls-tree": "-dlrtz --abbrev= --format= --full-name --full-tree --long --name-only --name-status --object-only",
    "git merge": _MERGE,
    "git merge-base": "-a --all --fork-point --independent --is-ancestor --octopus",
    "git mv": "-fknv --dry-run --force --verbose",
    "git name-rev": "--all --always --exclude= --name-only --refs= --tags --undefined",
    "git notes": "-f :mcC --ref= --force --message=",
    "git pull": _REMOTE + _MERGE + "-r --rebase --rebase=",
    "git push": "-46dfnquv --all --atomic --delete --dry-run --follow-tags --force --force-if-includes "
    "--force-with-lease "
    "--force-with-lease= --mirror --no-verify --porcelain --progress --prune --quiet --set-upstream --signed --tags "
    "--thin --verbose --verify --branches",
    "git range-diff": _DIFF + "--creation-factor= --no-dual-color --left-only --right-only",
    "git rebase": _MERGE + "-fiknmr :sC --apply --autosquash --empty= --force-rebase --fork-point --interactive "
    "--keep-base --keep-empty --merge --onto= --rebase-merges --root --update-refs --whitespace= --edit-todo "
    "--show-current-patch --no-ff --committer-date-is-author-date --reset-author-date",
    "git reflog": _LOG + "--expire= --stale-fix",
    "git remote": "-fnpv :tm --verbose --add --all --delete --push --prune --tags --no-tags",
    "git reset": "-Npq --hard --keep --merge --mixed --patch --quiet --soft --intent-to-add --no-refresh",
    "git restore": "-23SWmpq :s --conflict= --merge --ours --overlay --patch --progress --quiet --source= --staged "
    "--theirs --worktree",
    "git rev-list": _LOG + "--bisect --bisect-all --disk-usage --header --object-names --unpacked",
    "git rev-parse": "-q --abbrev-ref --abbrev-ref= --all --branches --disambiguate= --git-common-dir --git-dir "
    "--git-path= --is-bare-repository --is-inside-git-dir --is-inside-work-tree --is-shallow-repository --quiet "
    "--remotes --short --short= --show-cdup --show-prefix --show-superproject-working-tree --show-toplevel --symbolic "
    "--symbolic-full-name --tags --verify --absolute-git-dir --path-format= --show-object-format --since= --until=",
    "git revert": _MERGE,
    "git rm": "-fnqr --cached --dry-run --force --ignore-unmatch --quiet",
    "git shortlog": _LOG + "-cens --committer --email --group= --numbered --summary ?w",
    "git show": _LOG,
    "git show-ref": "-dqs --abbrev --abbrev= --dereference --hash --hash= --head --heads --branches --quiet "
    "--tags --verify",
    "git sparse-checkout": "--cone --no-cone --sparse-index",
    "git stash": _DIFF + "-akpqSu :m --all --index --include-untracked --keep-index --message= --patch --quiet "
    "--staged "
    "--only-untracked",
    "git status": "-bsvz ?uM --ahead-behind --branch --column --find-renames --ignored --ignored= --ignore-submodules "
    "--long --porcelain --porcelain= --renames --short --show-stash --untracked-files --untracked-files= --verbose",
    "git submodule": "-q --quiet --init --recursive --remote --cached --depth= --jobs= --force -f --rebase --merge "
    "--no-fetch --progress :j --recommend-shallow --single-branch --summary-limit=",
    "git switch": "-dfmqt :cC --conflict= --create= --detach --discard-changes --force --force-create= --guess --merge "
    "--orphan= --progress --quiet --track --no-track",
    "git symbolic-ref": "-dq :m --delete --quiet --short",
    "git tag": _LIST + "-adefilsv :mu ?n <F --annotate --create-reflog --delete --file=< --force --local-user= "
    "--message= --sign --verify --no-sign",
    "git update-index": "-q --again --assume-unchanged --no-assume-unchanged --chmod= --really-refresh --refresh "
    "--skip-worktree --no-skip-worktree",
    "git version": "--build-options",
    "git worktree": "-fqv :bB --detach --force --porcelain --track --guess-remote --lock --reason= --expire= --dry-run",
    "git config": "-lz --get --get-all --get-regexp --get-urlmatch --list --show-origin --show-scope "
    "--name-only --null "
    "--global --local --system --worktree --type= --bool --int --path --includes --default=",
}  # fmt: skip
HARMLESS_KEYS: Final = frozenset({"user.name", "user.email", "color.ui", "init.defaultBranch", "pull.rebase"})
"""What ``git config`` may set: other keys can name programs that git runs later."""
HARMLESS_GLOBALS: Final = frozenset(
    {"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--version", "-v"}
)
"""What may precede the subcommand."""
RUNS_OTHERS: Final[dict[str, frozenset[str]]] = {
    "submodule": frozenset({"foreach"}),
    "bisect": frozenset({"run", "view", "visualize", "replay"}),
    "hook": frozenset({"run"}),
}
"""Subcommand → its words that run something else."""
RUN_CODE: Final = frozenset(
    [
        "submodule",
        "bisect",
        "hook",
        "rebase",
        "filter-branch",
        "filter-repo",
        "difftool",
        "mergetool",
        "for-each-repo",
        "maintenance",
        "send-email",
        "daemon",
        "config",
        "credential",
        "remote-ext",
        "shell",
        "instaweb",
        "archive",
        "clone",
        "ls-remote",
    ]
)
"""Subcommands whose arguments may be commands, or name programs to run later."""
HARMLESS_CONFIG: Final = re.compile(
    r"(color|user|advice|log|commit|tag|gc|fetch|pull|push|init|safe|protocol|status|branch|rebase|column)\.[a-z.]+\Z"
    r"|core\.(quotepath|autocrlf|longpaths|ignorecase|filemode|abbrev|eol|safecrlf)\Z|diff\.(renames|algorithm|context)\Z"
    r"|merge\.conflictstyle\Z|http\.(version|postbuffer|sslverify|lowspeedlimit|lowspeedtime)\Z"
)
"""Keys (in small letters) that name no program and no folder of hooks."""
