import type { Response } from 'express';
import type { Caller } from '../authentication/authenticate.ts';

type ForCaller = Pick<Caller, 'interface'>;

/** Answers as the interface of the caller does: shippers get it wrapped. */
export function answerFor({ interface: interfaceName }: ForCaller, response: Response, data: object): void {
  response.json(interfaceName === 'shipper' ? { status: 'success', data } : data);
}

/** The same with one thing. */
export function answerObject(caller: ForCaller, response: Response, object: object): void {
  answerFor(caller, response, caller.interface === 'shipper' ? { object } : object);
}
