import waybell = require('@waybell/receiver');

console.log('used', new waybell.JsonNumber('0.10').text);
