// The functions that glibc's libstdc++ needs from the C library and that musl lacks. Debian has no libstdc++ for musl.
#include <stddef.h>

long getrandom(void *bytes, size_t length, unsigned flags);
size_t strftime_l(char *text, size_t size, const char *format, const void *time, void *locale);

char __libc_single_threaded = 0;
unsigned __cpu_model[4];

int __cpu_indicator_init(void) { return 0; }
int _dl_find_object(void *address, void *result) { return -1; }
int __cxa_thread_atexit_impl(void (*end)(void *), void *object, void *library) { return 0; }

unsigned arc4random(void) {
  unsigned number = 0;
  getrandom(&number, sizeof number, 0);
  return number;
}

size_t __strftime_l(char *text, size_t size, const char *format, const void *time, void *locale) {
  return strftime_l(text, size, format, time, locale);
}
