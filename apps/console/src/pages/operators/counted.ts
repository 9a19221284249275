/** Such as `1 message` or `2,000 messages`. */
export const counted = (count: number, what: string): string =>
  `${count.toLocaleString()} ${what}${count === 1 ? '' : 's'}`;
