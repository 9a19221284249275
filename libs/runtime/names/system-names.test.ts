import { describe, expect, test } from '@jest/globals';
import { namesToAsk, readHosts, readSearch } from './system-names.ts';

describe('readHosts', () => {
  test('reads every name of an address, and every address of a name', () => {
    const hosts = readHosts(
      '127.0.0.1 localhost Me # comment\n\n::1\tlocalhost ip6-localhost\nnonsense x\n#1.2.3.4 y\n',
    );
    expect(Object.fromEntries(hosts)).toEqual({
      localhost: [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ],
      me: [{ address: '127.0.0.1', family: 4 }],
      'ip6-localhost': [{ address: '::1', family: 6 }],
    });
  });
});

describe('readSearch', () => {
  test.each([
    ['nameserver 10.0.0.1', { search: [], ndots: 1 }],
    ['search a.example b.example\noptions timeout:1 ndots:5', { search: ['a.example', 'b.example'], ndots: 5 }],
    ['search a.example\ndomain b.example', { search: ['b.example'], ndots: 1 }],
    ['search .', { search: [], ndots: 1 }],
  ])('reads %j', (text, expected) => {
    expect(readSearch(text)).toEqual(expected);
  });
});

describe('namesToAsk', () => {
  const search = ['x.example', 'example'];
  test.each([
    ['hooks', 1, ['hooks.x.example', 'hooks.example', 'hooks']],
    ['api.dev', 1, ['api.dev', 'api.dev.x.example', 'api.dev.example']],
    ['api.dev', 5, ['api.dev.x.example', 'api.dev.example', 'api.dev']],
    ['api.dev.', 5, ['api.dev.']],
  ])('takes %s with ndots %d through the search list', (host, ndots, expected) => {
    expect(namesToAsk(host, { search, ndots })).toEqual(expected);
  });
});
