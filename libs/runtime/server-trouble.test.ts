import { describe, expect, test } from '@jest/globals';
import { troubleWith } from './server-trouble.ts';

const coded = (code: string, message: string) => Object.assign(new Error(message), { code });

describe('troubleWith', () => {
  test.each([
    [
      'nothing that listens',
      { server: 'Redis', url: 'redis://:s3cret@redis:6379/0' } as const,
      coded('ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.1:6379'),
      'Redis at redis:6379, which REDIS_URL names, cannot be reached (connect ECONNREFUSED 10.0.0.1:6379): start it, or correct REDIS_URL',
    ],
    [
      'several addresses, of which none answers',
      { server: 'Postgres', url: 'postgres://localhost/waybell', isOfStack: true } as const,
      coded('ECONNREFUSED', ''),
      'Postgres at localhost, of the running stack, cannot be reached (ECONNREFUSED): start it, or see "./waybell status"',
    ],
    [
      'a pooler',
      { server: 'Postgres', url: 'postgres://a,b:2/waybell' } as const,
      coded('08P01', 'unsupported startup parameter: statement_timeout'),
      'Postgres at a, b:2, which DATABASE_URL names, is reached through a pooler, which keeps no settings and no prepared statements of a connection (unsupported startup parameter: statement_timeout): name Postgres itself, or have the pooler keep sessions',
    ],
    [
      'an authority that is not known',
      { server: 'RabbitMQ', url: 'amqps://rabbitmq' } as const,
      coded('SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate in certificate chain'),
      'RabbitMQ at rabbitmq, which AMQP_URL names, shows a certificate of an authority that is not known here (self-signed certificate in certificate chain): name it by TLS_CA_FILE',
    ],
    [
      'a user without a right',
      { server: 'RabbitMQ', url: 'amqp://waybell-deliverer:s3cret@rabbitmq' } as const,
      `Operation failed: ExchangeDeclare; 403 (ACCESS-REFUSED) with message "ACCESS_REFUSED - access to exchange 'waybell.ends'"`,
      `RabbitMQ at rabbitmq, which AMQP_URL names, does not let the user "waybell-deliverer" do what it is for (Operation failed: ExchangeDeclare; 403 (ACCESS-REFUSED) with message "ACCESS_REFUSED - access to exchange 'waybell.ends'"): give it what "./waybell permissions" prints`,
    ],
    [
      'a line that is not declared',
      { server: 'RabbitMQ', url: 'amqp://rabbitmq' } as const,
      `Operation failed: ExchangeDeclare; 404 (NOT-FOUND) with message "NOT_FOUND - no exchange 'waybell.events'"`,
      `RabbitMQ at rabbitmq, which AMQP_URL names, lacks a part of the line (Operation failed: ExchangeDeclare; 404 (NOT-FOUND) with message "NOT_FOUND - no exchange 'waybell.events'"): create it with "./waybell declare"`,
    ],
    [
      'an address that is none',
      { server: 'RabbitMQ', url: 's3cret' } as const,
      'odd',
      'RabbitMQ at an address that is none, which AMQP_URL names, cannot be reached (odd): start it, or correct AMQP_URL',
    ],
  ])('says of %s which server, by which setting, and what to do, without a secret', (_what, asked, error, sentence) => {
    expect(troubleWith(asked, error)).toBe(sentence);
  });
});
