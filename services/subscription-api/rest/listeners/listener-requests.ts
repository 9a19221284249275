import { listenerAnswer, listenerRequest } from '@waybell/contracts/openapi/listener-paths';
import { readCallbackUrl, type CallbackRules } from '../../callback-url.ts';
import { bodyReader, invalidBody, pointTo } from '../http/body.ts';

export type ListenerRequest = { url: string; actions?: string[]; name: string };
export type ListenerAnswer = { request: string; status: number; body: string };

/** Throws a Problem (422) that names everything wrong with it. */
export const readListener = bodyReader<ListenerRequest>(listenerRequest);
export const readAnswer = bodyReader<ListenerAnswer>(listenerAnswer);

export type ListenerPlace = { url: string; guid: string; key: string; rules: CallbackRules };

/** Makes the URL that deliverers call, from the API's address as its client has it. Throws a Problem (422) for a forbidden one. */
export async function callbackUrlOf({ url, guid, key, rules }: ListenerPlace): Promise<string> {
  const path = `/v1/listeners/${guid}/requests?key=${key}`;
  const read = /[?#]/.test(url)
    ? { fault: 'has a query or a fragment: take it out' }
    : await readCallbackUrl(`${url.replace(/\/$/, '')}${path}`, rules);
  if ('url' in read) return read.url;
  const detail = `${read.fault}; callbacks have to reach this API there, so name an address at which they may`;
  throw invalidBody([{ pointer: pointTo('url'), detail }]);
}

const PASSED_ON = ['content-type', 'user-agent', 'accept-encoding', 'traceparent', 'x-service-verification-token'];
const isPassedOn = (name: string): boolean => PASSED_ON.includes(name) || /^(?:x-)?webhook-./.test(name);

/** Returns the headers that the deliverer sent, without those that proxies have added. */
export function passedOn(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' && isPassedOn(name) ? [[name, value]] : [],
    ),
  );
}
