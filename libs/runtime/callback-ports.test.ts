import { describe, expect, test } from '@jest/globals';
import { DENIED_PORTS, isForbiddenPort, readPorts } from './networks.ts';

describe('readPorts', () => {
  test('reads ports and ranges with both their ends', () => {
    expect([...readPorts(['6379', '20-22'])]).toEqual([6379, 20, 21, 22]);
  });

  test.each(['', 'x', '-1', '1-', '3-1', '65536', '1-65536', '1,2'])('refuses %p and names it', (entry) => {
    expect(() => readPorts([entry])).toThrow(`"${entry}"`);
  });
});

describe('isForbiddenPort', () => {
  const denied = readPorts(DENIED_PORTS);

  test.each(['22', '25', '6379', '5672', '0'])('forbids %s', (port) => {
    expect(isForbiddenPort({ protocol: 'https:', port }, denied)).toBe(true);
  });

  test.each(['', '443', '80', '444', '2375', '3000', '8080', '8443', '8883', '9000', '65535'])(
    'allows "%s"',
    (port) => {
      expect(isForbiddenPort({ protocol: 'https:', port }, denied)).toBe(false);
    },
  );

  test('takes the port of the scheme where none is named', () => {
    expect(isForbiddenPort({ protocol: 'http:', port: '' }, readPorts(['80']))).toBe(true);
    expect(isForbiddenPort({ protocol: 'https:', port: '' }, readPorts(['80']))).toBe(false);
  });
});
