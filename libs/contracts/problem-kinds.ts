/** Every kind of error that the REST interfaces answer with: its status and its title. */
export const problemKinds = {
  'invalid-json': [400, 'The body is not valid JSON'],
  'malformed-request': [400, 'The request is malformed'],
  unauthenticated: [401, 'An access token is needed'],
  'invalid-token': [401, 'The access token is not valid'],
  'other-interface': [403, 'The access token belongs to the other interface'],
  'insufficient-scope': [403, 'The access token lacks a scope'],
  'unknown-path': [404, 'There is nothing here'],
  'unknown-action': [404, 'There is no such action'],
  'not-subscribed': [404, 'There is no such subscription'],
  'unknown-delivery': [404, 'There is no such delivery'],
  'unknown-replay': [404, 'There is no such replay'],
  'unknown-listener': [404, 'There is no such listener'],
  'unknown-account': [404, 'There is no such account'],
  'nothing-known': [404, 'Nothing is known of it'],
  'unknown-rejected': [404, 'There is no such rejected message'],
  'unknown-token': [404, 'There is no such access token'],
  'method-not-allowed': [405, 'The method is not allowed here'],
  'feature-off': [409, 'The feature is not enabled for the account'],
  'under-way': [409, 'The delivery is on its way'],
  'was-a-test': [409, 'The delivery was a test'],
  'body-gone': [409, 'What was sent is no longer kept'],
  'nobody-subscribed': [409, 'There is no subscription to send it to'],
  'already-subscribed': [409, 'The action is already subscribed'],
  'rotation-under-way': [409, 'A rotation is under way'],
  'answered-too-late': [409, 'The answer came too late'],
  'already-listening': [409, 'There is such a listener already'],
  'account-exists': [409, 'There is such an account already'],
  'several-rejected': [409, 'Several rejected messages are called so'],
  'not-an-event': [409, 'What was rejected is not an event'],
  'rejected-taken': [409, 'Another has the rejected messages in hand'],
  'no-longer-kept': [410, 'What follows is no longer kept'],
  'listener-ended': [410, 'The listener has ended'],
  'request-timeout': [408, 'The request did not end in time'],
  'body-too-large': [413, 'The body is too large'],
  'unsupported-media-type': [415, 'The body is not JSON in UTF-8'],
  'invalid-body': [422, 'The body breaks a rule'],
  'invalid-parameter': [422, 'A parameter breaks a rule'],
  'too-many-requests': [429, 'Too many requests'],
  'headers-too-large': [431, 'The headers are too large'],
  'internal-error': [500, 'Something went wrong here'],
  'no-broker': [501, 'This process has no way to RabbitMQ'],
  unavailable: [503, 'The service is not available at the moment'],
  'no-answer': [504, 'The listener did not answer'],
} as const;

export type ProblemKind = keyof typeof problemKinds;

/** The member `type` of a problem of this kind. */
export function problemType(kind: ProblemKind): string {
  return `urn:waybell:problem:${kind}`;
}
