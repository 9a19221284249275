/** Works on all of them, at most so many at once, in their order. The work itself says what went wrong: it must not reject. */
export async function inTurn<T>(
  all: readonly T[],
  { atOnce, work }: { atOnce: number; work: (each: T) => Promise<void> },
): Promise<void> {
  const rest = [...all];
  const next = async (): Promise<void> => {
    for (let each = rest.shift(); each !== undefined; each = rest.shift()) await work(each);
  };
  await Promise.all(Array.from({ length: atOnce }, next));
}
