import { describe, expect, test } from '@jest/globals';
import { readSetting, triggerBody } from './trigger.ts';

const bodyOf = (...settings: string[]) => triggerBody('order.created', settings.map(readSetting));

describe('a setting', () => {
  test.each([
    ['payload.customer.name=Ann', '{"/payload/customer/name":"Ann"}'],
    ['payload.price=12.50', '{"/payload/price":12.50}'],
    ['payload.id=9007199254740993', '{"/payload/id":9007199254740993}'],
    ['payload.number="4711"', '{"/payload/number":"4711"}'],
    ['payload.number=04711', '{"/payload/number":"04711"}'],
    ['payload.stops.0.x={"a":[1.0]}', '{"/payload/stops/0/x":{"a":[1.0]}}'],
    ['payload.note=a=b', '{"/payload/note":"a=b"}'],
    ['payload.note=', '{"/payload/note":""}'],
    ['payload.note=null', '{"/payload/note":null}'],
    ['/payload/a.b=true', '{"/payload/a.b":true}'],
    ['payload.a/b~c=1', '{"/payload/a~1b~0c":1}'],
  ])('%s is asked for as %s', (setting, set) => {
    expect(bodyOf(setting)).toBe(`{"action":"order.created","set":${set}}`);
  });

  test('is refused where it sets nothing', () => {
    for (const setting of ['payload.id', '=1', '']) expect(() => readSetting(setting)).toThrow('sets nothing');
  });
});
