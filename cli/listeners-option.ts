/** For commands that list clients' data. */
export const LISTENERS_OPTION = ['--listeners', 'those of "./waybell listen", too'] as const;
