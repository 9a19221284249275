/**
 * A dependency (Postgres, the broker, …) is away. Thrown by adapters and by nothing else: the hand-over answers it by
 * giving back what it holds, waiting until `probe` resolves, and consuming again.
 */
export class Unavailable extends Error {
  readonly dependency: string;
  readonly probe: () => Promise<unknown>;

  constructor(dependency: string, probe: () => Promise<unknown>, cause?: unknown) {
    super(`${dependency} is unavailable`, { cause });
    this.name = 'Unavailable';
    this.dependency = dependency;
    this.probe = probe;
  }
}
