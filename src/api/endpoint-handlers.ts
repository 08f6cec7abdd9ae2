import { type Commands, requireFound } from '#src/commands/command.ts';
import { getNamedProfile, putProfile } from '#src/commands/named-profiles.ts';
import { archiveProfile, createProfile, editProfile } from '#src/commands/profiles.ts';
import { type HandlerSettings, type Handlers, json, planOf, profileAs, requireName } from './handler.ts';
import { answerPage, readPage } from './lists.ts';
import { presentProfile } from './present.ts';
import { readChoice } from './query.ts';
import { readEndpointCreate, readEndpointPut, readEndpointUpdate } from './read-bodies.ts';

export function endpointHandlers(commands: Commands, { httpAllowed, guard }: HandlerSettings) {
  const { store, pause } = commands;

  return {
    createEndpoint: (call) =>
      call.once((keep) =>
        createProfile(
          commands,
          call.tenant.partition,
          () => readEndpointCreate(call.fields(), httpAllowed),
          profileAs(201, call.tenant.mode),
          keep,
        ),
      ),

    listEndpoints: async ({ tenant, query, answer }) => {
      const page = readPage(query, tenant.partition, 'endpoints', 'ep');
      const includeArchived = readChoice(query, 'include_archived', ['true', 'false']) === 'true';
      return answer((bytesMax) =>
        answerPage(
          { ...page, bytesMax },
          (before, limit) => store.listProfiles(tenant.partition, includeArchived, { before, limit }),
          (profile) => ({ position: profile.id, resource: presentProfile(profile, tenant.mode) }),
          (length) => pause(tenant.partition, length),
        ),
      );
    },

    getEndpoint: (call) =>
      call.answer(async () => {
        const id = call.id('ep');
        const profile = requireFound(await store.findProfile(call.tenant.partition, id), id);
        return json(200, presentProfile(profile, call.tenant.mode));
      }),

    updateEndpoint: (call) =>
      call.once((keep) =>
        editProfile(
          commands,
          call.tenant.partition,
          call.id('ep'),
          async (profile) => {
            const edit = readEndpointUpdate(call.fields(), httpAllowed);
            await guard?.profile(profile, edit);
            return edit;
          },
          profileAs(200, call.tenant.mode),
          keep,
        ),
      ),

    archiveEndpoint: (call) =>
      archiveProfile(commands, call.tenant.partition, call.id('ep'), profileAs(200, call.tenant.mode), () =>
        call.fields(),
      ),

    putEndpoint: (call) => {
      const name = requireName(call.name);
      return putProfile(
        commands,
        call.tenant.partition,
        name,
        () => readEndpointPut(call.fields(), httpAllowed, name),
        {
          created: profileAs(201, call.tenant.mode),
          present: profileAs(200, call.tenant.mode),
          plan: planOf(call),
        },
      );
    },

    getNamedEndpoint: (call) =>
      call.answer(async () =>
        json(
          200,
          presentProfile(await getNamedProfile(commands, call.tenant.partition, call.name), call.tenant.mode),
        ),
      ),
  } satisfies Handlers;
}
