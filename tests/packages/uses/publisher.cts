import waybell = require('@waybell/publisher');

console.log('used', new waybell.JsonNumber('0.10').text);
