/* A lower bound for the cost of hooks: spawn N shells side by side, read both outputs to their end, wait for each.
 *
 * Reads requests "<rounds> <hooks> <command>" from stdin, answers each with a line of microseconds, one per round.
 * The only argument is the size of the payload. What fits in a pipe is written before the shell starts, the rest after.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_HOOKS 64
#define LONGEST_LINE 1024
#define PIPE 65536

extern char **environ;

static char *payload;
static size_t payload_size;

static void check(int failed, const char *what) {
    if (failed) {
        perror(what);
        exit(1);
    }
}

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

/* Write what the pipe takes, and close it after the last byte. */
static void feed(struct pollfd *input, size_t *sent) {
    ssize_t taken = write(input->fd, payload + *sent, payload_size - *sent);
    check(taken < 0, "write");
    *sent += taken;
    if (*sent < payload_size) return;
    close(input->fd);
    input->fd = -1; /* poll ignores it */
}

static pid_t spawn(char *command, struct pollfd outputs[2], struct pollfd *input, size_t *sent) {
    int in[2], out[2], err[2];
    check(pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC), "pipe2");
    if (payload_size > PIPE) check(fcntl(in[1], F_SETFL, O_NONBLOCK) < 0, "fcntl");
    *input = (struct pollfd){.fd = in[1], .events = POLLOUT};
    *sent = 0;
    feed(input, sent);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);

    char *argv[] = {"/bin/sh", "-c", command, NULL};
    pid_t pid;
    errno = posix_spawn(&pid, "/bin/sh", &actions, &attributes, argv, environ);
    check(errno != 0, "posix_spawn");
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(in[0]);
    close(out[1]);
    close(err[1]);
    outputs[0] = (struct pollfd){.fd = out[0], .events = POLLIN};
    outputs[1] = (struct pollfd){.fd = err[0], .events = POLLIN};
    return pid;
}

static void run(int hooks, char commands[][LONGEST_LINE]) {
    static char output[PIPE];
    pid_t pids[MOST_HOOKS];
    struct pollfd pipes[3 * MOST_HOOKS], *inputs = pipes + 2 * hooks; /* two outputs of each, then all inputs */
    size_t sent[MOST_HOOKS];
    int status, open = 2 * hooks, watched = payload_size > PIPE ? 3 * hooks : 2 * hooks;
    for (int i = 0; i < hooks; i++) pids[i] = spawn(commands[i], pipes + 2 * i, inputs + i, sent + i);
    while (open > 0) {
        poll(pipes, watched, -1);
        for (int i = 0; i < hooks && watched > 2 * hooks; i++)
            if (inputs[i].fd >= 0 && inputs[i].revents) feed(inputs + i, sent + i);
        for (int i = 0; i < 2 * hooks; i++) {
            if (pipes[i].fd < 0 || !pipes[i].revents) continue;
            if (read(pipes[i].fd, output, sizeof output) > 0) continue;
            close(pipes[i].fd);
            pipes[i].fd = -1;
            open--;
        }
    }
    for (int i = 0; i < hooks; i++) {
        check(waitpid(pids[i], &status, 0) != pids[i], "waitpid");
        check(status != 0, "a hook failed");
    }
}

int main(int count, char **arguments) {
    static char line[LONGEST_LINE], commands[MOST_HOOKS][LONGEST_LINE];
    payload_size = count > 1 ? strtoul(arguments[1], NULL, 10) : 0;
    payload = malloc(payload_size + 1);
    check(payload == NULL, "malloc");
    memset(payload, 'x', payload_size);
    while (fgets(line, sizeof line, stdin)) {
        int rounds, hooks, start;
        if (sscanf(line, "%d %d %n", &rounds, &hooks, &start) < 2 || hooks < 1 || hooks > MOST_HOOKS) return 1;
        line[strcspn(line, "\n")] = '\0';
        for (int i = 0; i < hooks; i++) snprintf(commands[i], LONGEST_LINE, "%s #%d", line + start, i + 1);
        for (int round = 0; round < rounds; round++) {
            double begun = microseconds();
            run(hooks, commands);
            printf("%.1f ", microseconds() - begun);
        }
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
