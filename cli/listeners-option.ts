/** Of commands that list what clients have. */
export const LISTENERS_OPTION = ['--listeners', 'those of "./waybell listen", too'] as const;
