/** What came is no response of HTTP; `brokenRule` says why, for people. */
export class InvalidResponse extends Error {
  readonly code = 'INVALID_RESPONSE';
  readonly brokenRule: string;
  constructor(brokenRule: string) {
    super(`no response of HTTP: ${brokenRule}`);
    this.name = 'InvalidResponse';
    this.brokenRule = brokenRule;
  }
}
