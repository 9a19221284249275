import { receiving, type ReceiveOptions } from '../receive.ts';
import { signedRequest } from '../signed-request.ts';
import type { Trouble } from '../tell-trouble.ts';

export type Options = ReceiveOptions<'carrier'>;

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export const request = (what: Partial<Parameters<typeof signedRequest<'carrier', string>>[0]> = {}) => ({
  method: 'POST',
  ...signedRequest({ interface: 'carrier', action: 'order.created', secret, ...what }),
});

/** A receiver that reports its troubles, and answers with status and body. */
export function aReceiver(what: Partial<Options>) {
  const troubles: Trouble[] = [];
  // Each test passes one kind of work.
  const options = {
    interface: 'carrier',
    secrets: secret,
    onTrouble: (each: Trouble) => void troubles.push(each),
    ...what,
  } as Options;
  const { receive } = receiving(options);
  return {
    troubles,
    ask: async (...args: Parameters<typeof receive>) => {
      const { status, body } = await receive(...args);
      // Every body is an object that says so.
      return [status, (JSON.parse(body) as { status: string }).status];
    },
  };
}
