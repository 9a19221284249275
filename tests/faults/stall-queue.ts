import { rabbitmqctl } from '@waybell/stack/rabbitmqctl';
import type { Stage } from './stage.ts';

/**
 * The queue confirms nothing, takes nothing and gives nothing until the function that this resolves with is called, as
 * when its leader hangs or has no majority; all other queues go on. What it was asked meanwhile it does then.
 */
export async function stallQueue({ stack }: Pick<Stage, 'stack'>, queue: string): Promise<() => Promise<void>> {
  const { spec } = stack.stack.servers.process('rabbitmq');
  const tell = async (verb: 'suspend' | 'resume') => {
    // Its Raft process, by whatever name this version of the broker gives it.
    const resource = `rabbit_misc:r(<<"${stack.vhost}">>, queue, <<"${queue}">>)`;
    const said = await rabbitmqctl(
      spec,
      'eval',
      `{ok, Q} = rabbit_amqqueue:lookup(${resource}), sys:${verb}(amqqueue:get_pid(Q)).`,
    );
    if (said.trim() !== 'ok') throw new Error(`the leader of ${queue} could not be told to ${verb}: ${said}`);
  };
  await tell('suspend');
  return () => tell('resume');
}
