/** Works that out once for each object, of which nothing may change. */
export function remembering<T extends object, R>(work: (of: T) => R): (of: T) => R {
  const known = new WeakMap<T, R>();
  return (of) => {
    const before = known.get(of);
    if (before !== undefined) return before;
    const made = work(of);
    known.set(of, made);
    return made;
  };
}
