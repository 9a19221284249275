/**
 * A dependency (Postgres, the broker, …) is away. Only adapters throw it; the hand-over then gives back its messages, waits until
 * `probe` resolves, and consumes again.
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
