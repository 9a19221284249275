/** Such as `1 message`, `2,000 messages` or `2 matches`. */
export const counted = (count: number, what: string, many = `${what}s`): string =>
  `${count.toLocaleString()} ${count === 1 ? what : many}`;
