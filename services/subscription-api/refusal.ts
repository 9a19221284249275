/** `invalid`: the input breaks a rule. The others: something does not exist, or exists already. */
export type RefusalReason =
  | 'invalid'
  | 'unknown-account'
  | 'unknown-client'
  | 'unknown-token'
  | 'account-exists'
  | 'account-closed'
  | 'not-subscribed'
  | 'not-stopped';

/** An operator's request that cannot be done. The message, for people, says why and what to do. */
export class Refusal extends Error {
  readonly reason: RefusalReason;

  constructor(message: string, reason: RefusalReason = 'invalid') {
    super(message);
    this.name = 'Refusal';
    this.reason = reason;
  }
}

/** The error of a change that came while the account was closed, by the trigger that refuses it. */
export const isOfClosedAccount = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'WB001';
