import fc from 'fast-check';

// What holds in the gate holds from run to run; another seed tries what none has tried before.
fc.configureGlobal({ seed: Number(process.env['TEST_SEED'] ?? 1) });
