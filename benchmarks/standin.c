/* A stand-in for the Claude Code CLI that never keeps its host waiting.
 *
 * It speaks just enough of the protocol for a benchmark: it answers control requests, and after each prompt plays what
 * the environment asks for, from lines that were written to a file beforehand.
 *
 *   STANDIN_FILE    lines to say, any number of times over
 *   STANDIN_LINES   how many lines of it to say per turn (default: none); without a pace, each turn goes on where the
 *                   one before stopped
 *   STANDIN_PACE    lines per second; without it as fast as the pipe takes them
 *   STANDIN_ASK     a file with one control request; the text @ID@ in it becomes 00000001, 00000002 ...
 *   STANDIN_FIRST   a file with such requests to ask first, one after the other (an MCP handshake)
 *   STANDIN_ASKS    how many times to ask it, and
 *   STANDIN_FLIGHT  how many of them to keep unanswered at once
 *   STANDIN_CLOCK   how many lines per second to say with the time in them: each @NOW@ in the file's first line
 *   STANDIN_PHASE   nanoseconds after a multiple of their interval at which these lines are due (default: the first is
 *                   due at once), so that many at a pace are spread evenly, however fast their host starts them
 *   STANDIN_STOPS   an interrupt ends what is said at a pace, as it ends a turn of the real CLI
 *   STANDIN_INIT    a file with the line that begins a turn
 *   STANDIN_RESULT  a file with the line that ends one; @TOLD@ in it becomes "answers errors p50", the last being the
 *                   median nanoseconds from a request to its answer if only one is in flight
 *
 * Its answer to a control request has the time at which it read the request, as "read_ns".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { ID_DIGITS = 8, NOW_DIGITS = 20, INPUT_SIZE = 1 << 22 };

struct text { char *start; size_t size; };

static char input[INPUT_SIZE];
static size_t held;
static long answers, errors, median_ns;
static int input_ended, interrupted;

static void fail(const char *what) { perror(what); exit(3); }

static long number(const char *name) { const char *set = getenv(name); return set ? atol(set) : 0; }

static struct text load(const char *name) {
    struct text text = {NULL, 0};
    const char *path = getenv(name);
    if (!path || !*path) return text;
    FILE *file = fopen(path, "rb");
    if (!file) fail(path);
    fseek(file, 0, SEEK_END);
    text.size = (size_t)ftell(file);
    rewind(file);
    text.start = malloc(text.size + 1);
    if (fread(text.start, 1, text.size, file) != text.size) fail(path);
    text.start[text.size] = 0;
    fclose(file);
    return text;
}

static void say(const char *from, size_t size) {
    while (size) {
        ssize_t written = write(1, from, size);
        if (written < 0) {
            if (errno == EINTR) continue;
            exit(0); /* nobody listens any more */
        }
        from += written;
        size -= (size_t)written;
    }
}

static void say_many(struct iovec *pieces, int count) {
    while (count) {
        ssize_t written = writev(1, pieces, count);
        if (written < 0) {
            if (errno == EINTR) continue;
            exit(0);
        }
        while (count && (size_t)written >= pieces->iov_len) {
            written -= (ssize_t)pieces->iov_len;
            pieces++;
            count--;
        }
        if (count) {
            pieces->iov_base = (char *)pieces->iov_base + written;
            pieces->iov_len -= (size_t)written;
        }
    }
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Wait for input until that time (or for ever, if it is negative); 1 if there is some. */
static int wait_input(int64_t until_ns) {
    struct pollfd stdin_ready = {0, POLLIN, 0};
    struct timespec left = {0, 0};
    if (input_ended) {
        if (until_ns < 0) return 0;
        stdin_ready.fd = -1;
    }
    if (until_ns >= 0) {
        int64_t rest = until_ns - now_ns();
        if (rest > 0) { left.tv_sec = rest / 1000000000; left.tv_nsec = rest % 1000000000; }
    }
    int ready = ppoll(&stdin_ready, 1, until_ns < 0 ? NULL : &left, NULL);
    return ready > 0;
}

static void answer_control(const char *line) {
    char id[128], reply[640];
    const char *found = strstr(line, "\"request_id\"");
    if (!found || !(found = strchr(found + 12, '"')) || sscanf(found + 1, "%127[^\"]", id) != 1) return;
    int size = snprintf(reply, sizeof reply,
        "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"%s\",\"response\":"
        "{\"commands\":[],\"agents\":[],\"output_style\":\"default\",\"available_output_styles\":[\"default\"],"
        "\"models\":[],\"account\":{},\"pid\":1,\"read_ns\":%lld}}}\n", id, (long long)now_ns());
    say(reply, (size_t)size);
}

/* Read what has come and deal with its whole lines; how many prompts were among them. */
static int take_input(void) {
    ssize_t got = read(0, input + held, INPUT_SIZE - 1 - held);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
    if (got <= 0) { input_ended = 1; return 0; }
    held += (size_t)got;
    int prompts = 0;
    char *line = input, *end;
    while ((end = memchr(line, '\n', held - (size_t)(line - input)))) {
        *end = 0;
        if (strstr(line, "\"control_response\"")) {
            answers++;
            errors += strstr(line, "\"error\"") != NULL;
        } else if (strstr(line, "\"control_request\"")) {
            answer_control(line);
            interrupted = interrupted || strstr(line, "\"interrupt\"");
        } else if (strstr(line, "\"user\"")) {
            prompts++;
        }
        line = end + 1;
    }
    held -= (size_t)(line - input);
    memmove(input, line, held);
    if (held == INPUT_SIZE - 1) { fputs("the stand-in takes no line that long\n", stderr); exit(3); }
    return prompts;
}

static char *after_lines(char *from, long count) {
    while (count-- > 0) from = strchr(from, '\n') + 1;
    return from;
}

static void flood(struct text lines, long count) {
    enum { PIECES = 64 };
    static long at; /* lines into the file */
    long per_pass = 0;
    for (size_t byte = 0; byte < lines.size; byte++) per_pass += lines.start[byte] == '\n';
    if (at) {
        long here = count < per_pass - at ? count : per_pass - at;
        char *from = after_lines(lines.start, at);
        say(from, (size_t)(after_lines(from, here) - from));
        at = (at + here) % per_pass;
        count -= here;
    }
    while (count >= per_pass) {
        struct iovec pieces[PIECES];
        int used = 0;
        for (; used < PIECES && count >= per_pass; count -= per_pass)
            pieces[used++] = (struct iovec){lines.start, lines.size};
        say_many(pieces, used);
    }
    if (count) {
        say(lines.start, (size_t)(after_lines(lines.start, count) - lines.start));
        at = count;
    }
}

/* One write per line, as the real CLI does. */
static void pace(struct text lines, long count, long per_second) {
    int64_t start = now_ns();
    char *line = lines.start;
    long stops = number("STANDIN_STOPS");
    interrupted = 0;
    for (long said = 0; said < count; said++) {
        int64_t due = start + said * 1000000000 / per_second;
        while (now_ns() < due && !(stops && interrupted))
            if (wait_input(due)) take_input();
        if (stops && interrupted) break;
        if (line == lines.start + lines.size) line = lines.start;
        char *end = strchr(line, '\n') + 1;
        say(line, (size_t)(end - line));
        line = end;
    }
}

/* Copy the text with something else in place of each mark; how long it is then. */
static size_t filled(char *to, struct text text, const char *mark, const char *with) {
    size_t mark_size = strlen(mark), with_size = strlen(with);
    char *begin = to, *from = text.start, *end = from + text.size, *found;
    while ((found = memmem(from, (size_t)(end - from), mark, mark_size))) {
        memcpy(to, from, (size_t)(found - from));
        to += found - from;
        memcpy(to, with, with_size);
        to += with_size;
        from = found + mark_size;
    }
    memcpy(to, from, (size_t)(end - from));
    return (size_t)(to + (end - from) - begin);
}

/* The first line again and again, with the time at which it is written. */
static void tell_time(struct text lines, long count, long per_second) {
    struct text line = {lines.start, (size_t)(strchr(lines.start, '\n') + 1 - lines.start)};
    char *told = malloc(line.size * 4);
    int64_t start = now_ns(), interval = 1000000000 / per_second;
    if (getenv("STANDIN_PHASE")) start += interval - (start - number("STANDIN_PHASE")) % interval;
    for (long said = 0; said < count; said++) {
        char digits[NOW_DIGITS + 1];
        int64_t due = start + said * 1000000000 / per_second;
        while (now_ns() < due)
            if (wait_input(due)) take_input();
        snprintf(digits, sizeof digits, "%lld", (long long)now_ns());
        say(told, filled(told, line, "@NOW@", digits));
    }
    free(told);
}

/* The request with its number in place of each @ID@. */
static size_t numbered(char *to, struct text request, long serial) {
    char digits[ID_DIGITS + 1];
    snprintf(digits, sizeof digits, "%08u", (unsigned)(serial % 100000000));
    return filled(to, request, "@ID@", digits);
}

static int by_size(const void *one, const void *other) {
    int64_t difference = *(const int64_t *)one - *(const int64_t *)other;
    return (difference > 0) - (difference < 0);
}

static void ask(struct text request, struct text first, long count, long flight) {
    static long serial;
    char *batch = malloc((request.size + first.size + 64) * (size_t)(flight + 1) * 2);
    for (char *line = first.start; line && *line;) {
        char *end = strchr(line, '\n') + 1;
        long before = answers;
        say(batch, numbered(batch, (struct text){line, (size_t)(end - line)}, ++serial));
        while (answers == before && !input_ended)
            if (wait_input(-1)) take_input();
        line = end;
    }
    answers = errors = median_ns = 0;
    int64_t *took = malloc(sizeof *took * (size_t)(count + 1));
    for (long asked = 0; answers < count && !input_ended;) {
        size_t size = 0;
        int64_t start = now_ns();
        long before = answers;
        for (; asked < count && asked - answers < flight; asked++)
            size += numbered(batch + size, request, ++serial);
        if (size) say(batch, size);
        while (answers == before && !input_ended)
            if (wait_input(-1)) take_input();
        if (flight == 1) took[before] = now_ns() - start;
    }
    if (flight == 1 && answers == count) {
        qsort(took, (size_t)count, sizeof *took, by_size);
        median_ns = (long)took[count / 2];
    }
    free(took);
    free(batch);
}

static void end_turn(struct text result) {
    char *mark = result.start ? strstr(result.start, "@TOLD@") : NULL;
    if (!mark) { say(result.start, result.size); return; }
    char told[64];
    int size = snprintf(told, sizeof told, "%ld %ld %ld", answers, errors, median_ns);
    struct iovec pieces[] = {
        {result.start, (size_t)(mark - result.start)}, {told, (size_t)size},
        {mark + 6, result.size - (size_t)(mark + 6 - result.start)}};
    say_many(pieces, 3);
}

int main(int count, char **words) {
    for (int word = 1; word < count; word++)
        if (!strcmp(words[word], "--version") || !strcmp(words[word], "-v")) {
            puts("2.1.325 (Claude Code)");
            return 0;
        }
    struct text lines = load("STANDIN_FILE"), init = load("STANDIN_INIT"), result = load("STANDIN_RESULT");
    struct text request = load("STANDIN_ASK"), first = load("STANDIN_FIRST");
    long said = number("STANDIN_LINES"), per_second = number("STANDIN_PACE"), clock = number("STANDIN_CLOCK");
    for (int prompts = 0; !input_ended || prompts;) {
        if (!prompts) {
            if (wait_input(-1)) prompts += take_input();
            continue;
        }
        prompts--;
        if (init.start) say(init.start, init.size);
        if (request.start) ask(request, first, number("STANDIN_ASKS"), number("STANDIN_FLIGHT"));
        else if (clock) tell_time(lines, said, clock);
        else if (per_second) pace(lines, said, per_second);
        else if (lines.start && said) flood(lines, said);
        if (result.start) end_turn(result);
    }
    return 0;
}
