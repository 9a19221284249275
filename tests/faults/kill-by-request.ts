/**
 * Loaded before a service (`node --import`): an HTTP request that begins with the text in KILLING ends the process that
 * is about to send it, as a bug in an engine or a runaway allocation would.
 */
import { Socket } from 'node:net';

const killing = process.env['KILLING'] ?? 'nothing';
const write = Socket.prototype.write;

Socket.prototype.write = function writeUnlessDeadly(this: Socket, ...given: Parameters<typeof write>) {
  const [chunk] = given;
  if (typeof chunk === 'string' && chunk.startsWith(killing)) process.kill(process.pid, 'SIGKILL');
  return write.apply(this, given);
} as typeof write;
