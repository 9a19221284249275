/** Every kind of error that the REST interface answers with: its status and its title. */
export const problemKinds = {
  'invalid-json': [400, 'The body is not JSON'],
  'malformed-request': [400, 'The request is malformed'],
  unauthenticated: [401, 'An access token is needed'],
  'invalid-token': [401, 'The access token is not valid'],
  'other-interface': [403, 'The access token belongs to the other interface'],
  'insufficient-scope': [403, 'The access token lacks a scope'],
  'unknown-path': [404, 'There is nothing here'],
  'unknown-action': [404, 'There is no such action'],
  'not-subscribed': [404, 'There is no such subscription'],
  'method-not-allowed': [405, 'The method is not allowed here'],
  'feature-off': [409, 'The feature is not enabled for the account'],
  'already-subscribed': [409, 'The action is already subscribed'],
  'body-too-large': [413, 'The body is too large'],
  'unsupported-media-type': [415, 'The body is not JSON in UTF-8'],
  'invalid-body': [422, 'The body breaks a rule'],
  'internal-error': [500, 'Something went wrong here'],
  unavailable: [503, 'The service is not available at the moment'],
} as const;

export type ProblemKind = keyof typeof problemKinds;

/** The member `type` of a problem of this kind. */
export function problemType(kind: ProblemKind): string {
  return `urn:waybell:problem:${kind}`;
}
