/** Secrets of Standard Webhooks: they sign notifications of the token's client. They take the same right as verification tokens. */
import type { SigningSecret } from '../signing-secrets.ts';
import { Problem } from '../rest/http/problem.ts';
import { data, operationsOf } from './operation.ts';
import { closed, defaulted, flag, list, object, orNull, text } from './schema.ts';
import type { ClientServices } from './services.ts';

const signingSecret = object({
  secret: text({
    pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
    examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
  }),
  created_at: text({ format: 'date-time' }),
  expires_at: orNull(
    text({
      format: 'date-time',
      description: 'Until when notifications are signed with it, too; null for the current secret.',
    }),
  ),
});

const secrets = object({ objects: list(signingSecret, { minItems: 1, maxItems: 2 }) });

const operation = operationsOf<Pick<ClientServices, 'signingSecrets'>>();

const common = { tag: 'Signing secrets', scope: 'webhooks:write' } as const;

export const signingSecretOperations = [
  operation({
    ...common,
    method: 'get',
    path: '/v1/signing-secrets',
    id: 'listSigningSecrets',
    summary: 'See the signing secrets',
    description: 'Those of the client. The current one first, and for some time after a rotation the one before it.',
    answers: { 200: data('The secrets that are valid.', secrets) },
    handle: async ({ caller, services }) => ({ objects: await services.signingSecrets.list(caller) }),
  }),

  operation({
    ...common,
    method: 'post',
    path: '/v1/signing-secrets/rotate',
    id: 'rotateSigningSecret',
    summary: 'Take a new signing secret',
    description:
      'Notifications are signed with the new one and, for some time, with the one before it. Until that is over there is no other rotation, unless `force` ends the one before at once: then receivers that still check with it refuse what they get.',
    body: { schema: closed({ force: defaulted(flag({ default: false })) }), isOptional: true },
    answers: { 200: data('The secrets that are valid, the new one first.', secrets) },
    problems: ['rotation-under-way'],
    async handle({ caller, body: { force }, services }) {
      const rotated = await services.signingSecrets.rotate(caller, { endsEarlier: force });
      if (!rotated.isRotated) throw underWay(rotated.secrets);
      return { objects: rotated.secrets };
    },
  }),
];

/** A receiver that checks notifications with the earlier one would refuse them all from then on. */
function underWay([, earlier]: SigningSecret[]): Problem {
  const detail =
    `The secret before the last rotation is valid until ${earlier?.expiresAt?.toISOString() ?? 'then'}: rotate after that, ` +
    'or end it at once with {"force": true}.';
  return new Problem('rotation-under-way', detail);
}
