/**
 * Makes a generator of a function that gives values away one after the other. It goes on when the next value is asked for,
 * and when no more is asked for, it learns that, and is waited for.
 *
 * @param run `give` resolves with false once no more is wanted: then `run` has to come to its end
 */
export async function* pushToPull<T>(run: (give: (value: T) => Promise<boolean>) => Promise<void>): AsyncGenerator<T> {
  type Step = { readonly value: T; goOn(wanted: boolean): void } | undefined;
  let step: (step: Step) => void = () => {};
  let fail: (reason: unknown) => void = () => {};
  const nextStep = () =>
    new Promise<Step>((resolve, reject) => {
      step = resolve;
      fail = reject;
    });
  const give = (value: T) => new Promise<boolean>((goOn) => step({ value, goOn }));
  let next = nextStep();
  // The functions change with every step, so they are looked up when it has ended.
  const ended = run(give).then(
    () => step(undefined),
    (reason) => fail(reason),
  );
  for (;;) {
    const current = await next;
    if (current === undefined) return;
    next = nextStep();
    let wanted = false;
    try {
      yield current.value;
      wanted = true;
    } finally {
      current.goOn(wanted);
      // What fails when no more is wanted does not matter.
      if (!wanted) await Promise.allSettled([ended, next]);
    }
  }
}
