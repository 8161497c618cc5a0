// The first and only program of the small Linux that scripts/bochs/run.sh boots: runs the test programs of /tests/list,
// one command line each, with the environment of /tests/environment, and switches the machine off. All output goes to
// the serial console. run.sh and scripts/test_avx512.sh read the lines that start with "init: ".
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { kMaxArguments = 32, kLineBytes = 1024 };

static void mount_folder(const char* type, const char* folder) {
  mkdir(folder, 0755);
  // devtmpfs may have been mounted by the kernel itself.
  if (mount(type, folder, type, 0, NULL) != 0 && errno != EBUSY) perror(folder);
}

// A console that is opened by name is a controlling terminal of nobody; the kernel's own /dev/console may be missing
// from an initial file system.
static void use_serial_console(void) {
  const int console = open("/dev/ttyS0", O_RDWR | O_NOCTTY);
  if (console < 0) return;
  for (int descriptor = 0; descriptor < 3; ++descriptor) dup2(console, descriptor);
  if (console > 2) close(console);
  setvbuf(stdout, NULL, _IOLBF, 0);
}

static void switch_off(void) {
  fflush(stdout);
  tcdrain(STDOUT_FILENO);
  sync();
  reboot(RB_POWER_OFF);
  for (;;) pause();  // the first process must not end
}

static void report_processor(void) {
  __builtin_cpu_init();
  printf("init: processor avx2=%d fma=%d avx512f=%d cd=%d bw=%d dq=%d vl=%d\n", __builtin_cpu_supports("avx2") != 0,
         __builtin_cpu_supports("fma") != 0, __builtin_cpu_supports("avx512f") != 0,
         __builtin_cpu_supports("avx512cd") != 0, __builtin_cpu_supports("avx512bw") != 0,
         __builtin_cpu_supports("avx512dq") != 0, __builtin_cpu_supports("avx512vl") != 0);
}

static int read_line(FILE* file, char* line) {
  if (fgets(line, kLineBytes, file) == NULL) return 0;
  line[strcspn(line, "\n")] = '\0';
  return 1;
}

static void read_environment(void) {
  FILE* file = fopen("/tests/environment", "r");
  if (file == NULL) return;
  char line[kLineBytes];
  while (read_line(file, line)) {
    char* equals = strchr(line, '=');
    if (equals == NULL) continue;
    *equals = '\0';
    setenv(line, equals + 1, 1);
  }
  fclose(file);
}

// Splits the command line at spaces (the build names its programs without any) and runs it; its exit code, 128 + signal
// where a signal ended it, 127 where it cannot be started.
static int run(char* command_line) {
  char* arguments[kMaxArguments + 1];
  int count = 0;
  for (char* word = strtok(command_line, " "); word != NULL && count < kMaxArguments; word = strtok(NULL, " ")) {
    arguments[count++] = word;
  }
  arguments[count] = NULL;
  if (count == 0) return 127;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    execv(arguments[0], arguments);
    perror(arguments[0]);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(void) {
  if (getpid() != 1) {
    fputs("init: this is the first process of an emulated machine and does nothing elsewhere\n", stderr);
    return 2;
  }
  mount_folder("proc", "/proc");
  mount_folder("devtmpfs", "/dev");
  mount_folder("tmpfs", "/tmp");
  use_serial_console();
  printf("\ninit: started\n");
  report_processor();
  read_environment();
  FILE* list = fopen("/tests/list", "r");
  if (list == NULL) {
    printf("init: /tests/list is missing\n");
    switch_off();
  }
  char line[kLineBytes];
  while (read_line(list, line)) {
    char command_line[kLineBytes];
    memcpy(command_line, line, sizeof line);
    printf("init: begin %s\n", line);
    const int exit_code = run(command_line);
    printf("\ninit: end %s exit code %d\n", line, exit_code);
  }
  printf("init: all done\n");
  switch_off();
}
