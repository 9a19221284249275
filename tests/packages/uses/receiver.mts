import { JsonNumber } from '@waybell/receiver';

console.log('used', new JsonNumber('0.10').text);
