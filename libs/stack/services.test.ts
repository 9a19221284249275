import { expect, test } from '@jest/globals';
import { permissions } from '@waybell/line/operating/permissions';
import { services } from './services.ts';

test('every service that uses RabbitMQ has permissions there', () => {
  const names = services.filter(({ needs }) => needs.includes('AMQP_URL')).map(({ name }) => name);
  expect(Object.keys(permissions)).toEqual(expect.arrayContaining(names));
});
