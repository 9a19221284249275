/**
 * The author of a change, as the audit log has it: `token <guid>`, `jwt <sub>`, `command line`. `origin` is an address, or a
 * person at a machine; `requestId` is null outside of a request.
 */
export type Actor = { who: string; origin: string; requestId: string | null };

/** The address that a request came from, and the id by which it is known. */
export type CallerOrigin = Omit<Actor, 'who'>;

/**
 * Passes the actor to the triggers of the audit log, until the end of the transaction. The parameter is `JSON.stringify(actor)`.
 */
export const SET_ACTOR = `select set_config('waybell.actor', $1, true)`;
