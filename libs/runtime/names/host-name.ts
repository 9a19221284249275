/** Removes the final dot of an absolute name, or several by mistake. */
export function withoutRootDot(host: string): string {
  let end = host.length;
  while (host[end - 1] === '.') end -= 1;
  return host.slice(0, end);
}
