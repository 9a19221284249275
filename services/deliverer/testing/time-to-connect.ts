/**
 * An attempt whose limit is to pass once it is connected. Where the machine stood still until the limit was over, it is
 * made again with longer ones.
 */
export async function withTimeToConnect<A extends { connectMs?: number }>(
  attempt: (limitMs: number) => Promise<A>,
  limitMs: number,
): Promise<A> {
  for (const times of [1, 10]) {
    const answer = await attempt(times * limitMs);
    if (answer.connectMs !== undefined) return answer;
  }
  return attempt(20 * limitMs);
}
