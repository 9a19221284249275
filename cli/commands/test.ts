import { Command } from 'commander';

export function testCommand(): Command {
  return new Command('test');
}
