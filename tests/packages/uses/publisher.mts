import { JsonNumber } from '@waybell/publisher';

console.log('used', new JsonNumber('0.10').text);
