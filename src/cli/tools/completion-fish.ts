/** Completion for fish. The script has one line for each word that can follow. */
import {
  CONTEXT_LINE,
  type CompletionFlag,
  type CompletionNode,
  hasValues,
  quote,
  quoteWords,
  type Values,
} from './completion-tree.ts';

export function fishScript(nodes: readonly CompletionNode[]): string {
  const lines = nodes.flatMap(({ path, commands, flags, values }) => {
    const here = `-n ${quote(`__sched_at ${quoteInFish(path)}`)}`;
    return [
      ...commands.map((child) => `complete -c sched ${here} -a ${child.name} -d ${quote(child.about)}`),
      ...(hasValues(values) ? [`complete -c sched ${here} ${fishValues(values)}`] : []),
      ...flags.map((flag) => `complete -c sched ${here} ${fishFlag(flag)} -d ${quote(flag.about)}`),
    ];
  });
  return `# fish completion for sched
complete -c sched -f
function __sched_contexts
  set -l file "$HOME/.config/sched/contexts.json"
  test -n "$XDG_CONFIG_HOME"; and set file "$XDG_CONFIG_HOME/sched/contexts.json"
  test -n "$SCHED_CONFIG"; and set file "$SCHED_CONFIG"
  test -r "$file"; and string replace -rf ${quote(`${CONTEXT_LINE}.*`)} '$1' < "$file"
end
function __sched_at_files
  set -l word (commandline -ct | string replace -r '^--[a-z-]+=' '')
  string match -q '@*' -- "$word"; and __fish_complete_path (string sub -s 2 -- "$word") | string replace -r '^' '@'
end
function __sched_at
  set -l path sched
  set -l paths ${nodes.map(({ path }) => quoteInFish(path)).join(' ')}
  for word in (commandline -opc)[2..-1]
    contains -- "$path $word" $paths; and set path "$path $word"
  end
  test "$path" = "$argv[1]"
end
${lines.join('\n')}
`;
}

function quoteInFish(path: string): string {
  return `"${path}"`;
}

function fishFlag({ name, takesValue, values }: CompletionFlag): string {
  const long = `-l ${name.replace(/^--/, '')}`;
  if (!takesValue) return long;
  if (values === 'files') return `${long} -r -F`;
  return hasValues(values) ? `${long} -x ${fishValues(values)}` : `${long} -x`;
}

function fishValues(values: Values): string {
  if (values === 'files') return '-F';
  return `-a ${typeof values === 'string' ? quote(`(__sched_${values})`) : quoteWords(values)}`;
}
