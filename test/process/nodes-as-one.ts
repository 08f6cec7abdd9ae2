/**
 * Several nodes that share a store, to be used as one service: what is done to it is done to each of them, and
 * requests go to one after the other.
 */
import type { Exit, Output, SchedProcess } from './sched-process.ts';

export function nodesAsOne(nodes: readonly [SchedProcess, ...SchedProcess[]]): SchedProcess {
  const [first] = nodes;
  const urls = nodes.flatMap((node) => node.urls);
  let turn = 0;
  const output: Output = {
    get stdout() {
      return nodes.map(({ output: { stdout } }) => stdout).join('');
    },
    get stderr() {
      return nodes.map(({ output: { stderr } }) => stderr).join('');
    },
  };
  const exited = Promise.all(nodes.map((node) => node.exited)).then(exitOfAll);
  const each = async (act: (node: SchedProcess) => Promise<unknown>) => {
    await Promise.all(nodes.map(act));
  };
  return {
    get url() {
      turn += 1;
      return urls[turn % urls.length] ?? first.url;
    },
    urls,
    pid: first.pid,
    dataDir: first.dataDir,
    output,
    exited,
    // One of them made the keys and printed them.
    get testKey() {
      return anyOf(nodes, ({ testKey }) => testKey);
    },
    get liveKey() {
      return anyOf(nodes, ({ liveKey }) => liveKey);
    },
    said: (form) => each((node) => node.said(form)),
    signal: (signal) => {
      for (const node of nodes) node.signal(signal);
    },
    stop: async () => {
      await each((node) => node.stop());
      return exited;
    },
    kill: async () => {
      await each((node) => node.kill());
      return exited;
    },
    [Symbol.asyncDispose]: () => each(async (node) => node[Symbol.asyncDispose]()),
  };
}

/** The one that is worst to hear. */
function exitOfAll(exits: readonly Exit[]): Exit {
  const [first] = exits.toSorted((a, b) => Number(a.code === 0) - Number(b.code === 0));
  return first ?? { code: null, signal: null };
}

function anyOf(nodes: readonly SchedProcess[], read: (node: SchedProcess) => string): string {
  const found = nodes.flatMap((node) => {
    try {
      return [read(node)];
    } catch {
      return [];
    }
  });
  if (found[0] === undefined) throw new Error('No node printed such a key.');
  return found[0];
}
