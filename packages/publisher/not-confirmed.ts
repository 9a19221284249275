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
