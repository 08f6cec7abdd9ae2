import { Argument, type Command } from 'commander';
import type { CliDependencies } from '#src/cli/command.ts';
import { bashScript } from './completion-bash.ts';
import { fishScript } from './completion-fish.ts';
import { type CompletionNode, nodesOf } from './completion-tree.ts';
import { zshScript } from './completion-zsh.ts';

const SCRIPTS: ReadonlyMap<string, (nodes: readonly CompletionNode[]) => string> = new Map([
  ['bash', bashScript],
  ['zsh', zshScript],
  ['fish', fishScript],
]);

export function completionCommand(completion: Command, dependencies: CliDependencies): void {
  completion
    .addArgument(new Argument('<shell>', 'the shell').choices([...SCRIPTS.keys()]))
    .addHelpText(
      'after',
      `
To enable completion in every new shell:
  bash  echo 'eval "$(sched completion bash)"' >> ~/.bashrc
  zsh   echo 'eval "$(sched completion zsh)"' >> ~/.zshrc       (after compinit)
  fish  sched completion fish > ~/.config/fish/completions/sched.fish`,
    )
    .action((shell: string) => {
      dependencies.print(SCRIPTS.get(shell)?.(nodesOf(completion.parent ?? completion)) ?? '');
    });
}
