/**
 * Completion for bash. The script follows the words before the cursor down the command tree, skips flags and their
 * values, and offers what can come next. Everything is in the script, so a key press starts no process.
 *
 * The script splits words at white space. Bash itself also splits them at `=` and `:` by default, and an offered word
 * replaces only the piece after the last of these. The script therefore removes the part before it again. (Bash
 * splits at `@` too, but replaces that piece as well.)
 */
import {
  CONTEXT_LINE,
  type CompletionNode,
  hasValues,
  quote,
  quoteWords,
  type Values,
} from './completion-tree.ts';

export function bashScript(nodes: readonly CompletionNode[]): string {
  return `# bash completion for sched
_sched_files() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -P "$1" -f -- "$2"))
}
_sched_contexts() {
  local file=\${SCHED_CONFIG:-\${XDG_CONFIG_HOME:-\${HOME-}/.config}/sched/contexts.json} line
  local form=${quote(CONTEXT_LINE)}
  [[ -r $file ]] || return
  while IFS= read -r line; do
    if [[ $line =~ $form ]]; then printf '%s ' "\${BASH_REMATCH[1]}"; fi
  done < "$file"
}
# Offers the values $1 that complete the word $2, with the prefix $3.
_sched_offer() {
  case $1 in
    @files) compopt -o filenames 2> /dev/null; _sched_files "$3" "$2" ;;
    @at_files) if [[ $2 == @* ]]; then _sched_files "$3@" "\${2#@}"; fi ;;
    @contexts) COMPREPLY=($(compgen -P "$3" -W "$(_sched_contexts)" -- "$2")) ;;
    *) COMPREPLY=($(compgen -P "$3" -W "$1" -- "$2")) ;;
  esac
}
_sched() {
  local line=\${COMP_LINE:0:COMP_POINT} current='' path=sched word flag='' values='' flags='' breaks='' i
  local -a typed
  read -ra typed <<< "$line"
  if [[ $line != *[[:space:]] ]]; then
    current=\${typed[\${#typed[@]}-1]}
    unset "typed[\${#typed[@]}-1]"
  fi
  for ((i = 1; i < \${#typed[@]}; i++)); do
    word=\${typed[i]}
    if [[ -n $flag ]]; then flag=''; continue; fi
    if [[ $word == -* ]]; then
      case "$path $word" in
${flagsWithValue(nodes)
  .map((key) => `        ${quote(key)}) flag=$word ;;`)
  .join('\n')}
      esac
    else
      case "$path $word" in
${nodes
  .slice(1)
  .map(({ path }) => `        ${quote(path)}) path=${quote(path)} ;;`)
  .join('\n')}
      esac
    fi
  done
  COMPREPLY=()
  word=$current
  if [[ -z $flag && $current == --*=* ]]; then
    flag=\${current%%=*}
    word=\${current#*=}
  fi
  if [[ -n $flag ]]; then
    case "$path $flag" in
${flagsWithKnownValues(nodes)
  .map(([key, values]) => `      ${quote(key)}) values=${bashWords(values)} ;;`)
  .join('\n')}
    esac
    _sched_offer "$values" "$word" "\${current%"$word"}"
  else
    case "$path" in
${nodes.map((node) => `      ${quote(node.path)}) ${nextWords(node)} ;;`).join('\n')}
    esac
    if [[ $current == -* ]]; then _sched_offer "$flags" "$current" ''; else _sched_offer "$values" "$current" ''; fi
  fi
  for word in = :; do
    if [[ \${COMP_WORDBREAKS-} == *$word* ]]; then breaks+=$word; fi
  done
  if [[ -n $breaks ]] && ((\${#COMPREPLY[@]})); then
    word=\${current%"\${current##*[$breaks]}"}
    COMPREPLY=("\${COMPREPLY[@]#"$word"}")
  fi
}
complete -F _sched sched
`;
}

function nextWords({ commands, flags, values }: CompletionNode): string {
  const next = commands.length > 0 ? commands.map(({ name }) => name) : values;
  return `values=${bashWords(next)} flags=${quoteWords(flags.map(({ name }) => name))}`;
}

/** Quotes the words, or one word such as `@files` for values that only the shell knows. */
function bashWords(values: Values): string {
  return quoteWords(typeof values === 'string' ? [`@${values}`] : values);
}

/** Returns `path flag` for each flag that takes a value. */
function flagsWithValue(nodes: readonly CompletionNode[]): readonly string[] {
  return nodes.flatMap(({ path, flags }) =>
    flags.filter(({ takesValue }) => takesValue).map(({ name }) => `${path} ${name}`),
  );
}

function flagsWithKnownValues(nodes: readonly CompletionNode[]): readonly (readonly [string, Values])[] {
  return nodes.flatMap(({ path, flags }) =>
    flags
      .filter(({ values }) => hasValues(values))
      .map(({ name, values }): [string, Values] => [`${path} ${name}`, values]),
  );
}
