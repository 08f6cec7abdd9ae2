/** Completion for zsh. The script has a function for each command, with the description of each flag. */
import {
  CONTEXT_LINE,
  type CompletionFlag,
  type CompletionNode,
  hasValues,
  quote,
  type Values,
} from './completion-tree.ts';

export function zshScript(nodes: readonly CompletionNode[]): string {
  return `#compdef sched
# zsh completion for sched
_sched_values_at_files() {
  if compset -P @; then _files; else _message 'text, or @file'; fi
}
_sched_values_contexts() {
  local file=\${SCHED_CONFIG:-\${XDG_CONFIG_HOME:-$HOME/.config}/sched/contexts.json} line
  local form=${quote(CONTEXT_LINE)}
  local -a names
  [[ -r $file ]] || return
  while IFS= read -r line; do
    if [[ $line =~ $form ]]; then names+=($match[1]); fi
  done < $file
  compadd -a names
}
${nodes.map((node) => zshFunction(node)).join('\n')}
compdef _sched sched
`;
}

function zshFunction({ path, commands, flags, values }: CompletionNode): string {
  const name = zshName(path);
  const specs = flags.map((flag) => `    ${quote(zshFlag(flag))}`);
  if (commands.length === 0) {
    if (hasValues(values)) specs.push(`    ${quote(`1:value:${zshValues(values)}`)}`);
    return `${name}() {\n  _arguments \\\n${specs.join(' \\\n')}\n}`;
  }
  const described = commands.map(
    (child) => `    ${quote(`${child.name}:${child.about.replaceAll(':', '\\:')}`)}`,
  );
  const cases = commands.map((child) => `      ${child.name}) ${zshName(`${path} ${child.name}`)} ;;`);
  return `${name}() {
  local line state
  local -a commands=(
${described.join('\n')}
  )
  _arguments -C \\
${specs.join(' \\\n')} \\
    '1: :->command' '*:: :->rest'
  case $state in
    command) _describe command commands ;;
    rest) case $line[1] in
${cases.join('\n')}
    esac ;;
  esac
}`;
}

function zshName(path: string): string {
  return `_${path.replaceAll(/[^a-z]/g, '_')}`;
}

function zshFlag({ name, about, takesValue, values }: CompletionFlag): string {
  const text = about.replaceAll(/[[\]:\\]/g, ' ');
  if (!takesValue) return `${name}[${text}]`;
  return `*${name}=[${text}]:value:${hasValues(values) ? zshValues(values) : ' '}`;
}

function zshValues(values: Values): string {
  if (values === 'files') return '_files';
  return typeof values === 'string' ? `_sched_values_${values}` : `(${values.join(' ')})`;
}
