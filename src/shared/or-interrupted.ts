/**
 * Waits for `work`, but not after an interruption: `work` then continues, and its result is ignored.
 * @throws errors of `work`; the reason of the interruption
 */
export function orInterrupted<T>(work: Promise<T>, interrupted: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(interrupted.reason);
    interrupted.addEventListener('abort', stop, { once: true });
    if (interrupted.aborted) stop();
    work.then(resolve, reject).finally(() => interrupted.removeEventListener('abort', stop));
  });
}
