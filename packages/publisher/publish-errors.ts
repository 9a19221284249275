/** Why an event is refused: each of them, `./waybell` and the notices that upstream gets name by the same word. */
export interface InvalidEventFacts {
  /** Kind of the fault, such as `payload_invalid`, `unknown_action` or `too_large`. */
  reason: string;
  /** The fault's place, and the expected value, in words. */
  detail: string;
  /** JSON pointer into the event; absent where it is wrong as a whole. */
  place?: string | undefined;
  /** The nearest `<interface>.<action>`, where there is none of that name. */
  nearest?: string | undefined;
}

/** The event breaks the contract, or is larger than the broker takes: sent again as it is, it would be refused again. */
export class InvalidEvent extends Error implements InvalidEventFacts {
  override readonly name: string = 'InvalidEvent';
  readonly reason: string;
  readonly detail: string;
  readonly place: string | undefined;
  readonly nearest: string | undefined;

  constructor({ reason, detail, place, nearest }: InvalidEventFacts) {
    super(`${reason}: ${detail}`);
    this.reason = reason;
    this.detail = detail;
    this.place = place;
    this.nearest = nearest;
  }
}

/**
 * The broker has not confirmed the event, and is not asked any longer. It may have it or not: publish it again with the
 * same guid and the same content, and Waybell recognises it.
 */
export class NotConfirmed extends Error {
  override readonly name: string = 'NotConfirmed';
  readonly guid: string;

  constructor(guid: string, why: string) {
    super(`event ${guid} is not confirmed: ${why}`);
    this.guid = guid;
  }
}
