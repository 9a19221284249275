import { expect, test } from '@jest/globals';
import { loggedPath } from './http-app.ts';

test.each([
  '/v1/credentials',
  '/v1/credentials/hooks.test',
  '/v1/credentials/hooks.test:8443/',
  '/v1/credentials/m%C3%BCnchen.example%3A8443',
  '/v1/subscriptions/..%2f..%2fadmin',
])('the log has %s as it is', (path) => {
  expect(loggedPath(path)).toBe(path);
});

test.each([
  ['/v1/admin/tokens/wbl_s3cret', '/v1/admin/tokens/wbl_***'],
  ['/console/%23link=wbk_s3cret-_', '/console/%23link=wbk_***'],
  ['/v1/credentials/wbl_s3cret', '/v1/credentials/wbl_***'],
  ['/v1/credentials/https%3A%2F%2Fu%3As3cret%40hooks.test', '/v1/credentials/***'],
  ['/v1/credentials/https%3a%2f%2fhooks.test%2fs3cret', '/v1/credentials/***'],
  ['/v1/credentials/https://u:s3cret@hooks.test/', '/v1/credentials/***'],
  ['/v1/credentials/https://hooks.test/s3cret/', '/v1/credentials/***'],
  ['/v1/credentials/u:s3cret@hooks.test', '/v1/credentials/***'],
  ['/v1/credentials/hooks.test%3Fkey=s3cret', '/v1/credentials/***'],
  ['/v1/credentials/hooks.test%23s3cret', '/v1/credentials/***'],
  ['/v1/credentials/hooks.test/s3cret', '/v1/credentials/***'],
])('the log has %s as %s', (path, logged) => {
  expect(loggedPath(path)).toBe(logged);
});
