import type { Found } from './secret-forms.ts';
import type { Saw } from './sightings.ts';

type Permission = { secret: string; channel: Saw['channel']; place: RegExp; why: string };

/** The places where a secret may be seen; everywhere else it must not. */
const PERMISSIONS: Permission[] = [
  {
    secret: 'payload',
    channel: 'message',
    place: /./,
    why: 'it is what is carried; outcomes hold it for whoever looks a delivery up',
  },
  {
    secret: "answer's body",
    channel: 'message',
    place: /^waybell\.outcomes/,
    why: 'its beginning is for whoever looks a delivery up',
  },
  {
    secret: 'payload',
    channel: 'store',
    place: /^delivery_log\./,
    why: 'what was sent is there to be looked up until it is forgotten',
  },
  {
    secret: "answer's body",
    channel: 'store',
    place: /^delivery_log\.(attempts|deliveries)/,
    why: 'its beginning is for whoever looks a delivery up',
  },
  { secret: 'callback query', channel: 'store', place: /^waybell\.subscriptions$/, why: 'callbacks are sent there' },
  {
    secret: 'access token',
    channel: 'answer',
    place: /^POST \/v1\/admin\/accounts\/[\w-]+\/tokens$/,
    why: 'this is how an operator gets it, once',
  },
  {
    secret: 'payload',
    channel: 'answer',
    place: /^GET \/v1\/deliveries/,
    why: 'the client looks up what it was sent',
  },
  {
    secret: "answer's body",
    channel: 'answer',
    place: /^GET \/v1\/deliveries/,
    why: 'the client looks up what its receiver answered',
  },
  {
    secret: "answer's body",
    channel: 'command',
    place: /^why /,
    why: 'whoever asks why is told how the receiver answered',
  },
  {
    secret: 'verification token',
    channel: 'answer',
    place: /^\w+ \/v1\/webhooks\/[\w.]+\/subscriptions\/$/,
    why: 'the client is to recognise callbacks by it',
  },
  {
    secret: 'callback query',
    channel: 'answer',
    place: /^\w+ \/v1\/webhooks\/[\w.]+\/subscriptions\/$/,
    why: 'the client wrote it, and sees its own subscription',
  },
  {
    secret: 'signing secret',
    channel: 'answer',
    place: /^\w+ \/v1\/signing-secrets/,
    why: 'this is how the client learns it',
  },
];

export function isAllowed({ secret }: Found, { channel, place }: Saw): boolean {
  return PERMISSIONS.some((each) => each.secret === secret && each.channel === channel && each.place.test(place));
}
