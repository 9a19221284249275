/** A small break of the product, which somebody must see: the promise it breaks is one of ours. */
export type Mutant = {
  name: string;
  /** What `docs/guarantees.md` or the specification says, and this breaks. */
  promise: string;
  file: string;
  /** Is there exactly once. */
  find: string;
  replace: string;
  /** Test files of which at least one must fail. */
  seenBy: readonly string[];
};
