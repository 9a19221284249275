/** The receiver's bytes are no HTTP response; `brokenRule` says why, for people. */
export class InvalidResponse extends Error {
  readonly code = 'INVALID_RESPONSE';
  readonly brokenRule: string;
  constructor(brokenRule: string) {
    super(`no response of HTTP: ${brokenRule}`);
    this.name = 'InvalidResponse';
    this.brokenRule = brokenRule;
  }
}
