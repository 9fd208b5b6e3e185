// Sends opencode's events to Tenterhook, and carries out its answers.
// @include ask.js

const ENTRIES = {}

// `opencode run` ends when its session is idle, and answers opencode's permission requests by itself.
const WORDS = process.argv.slice(2)
const COMMAND = WORDS.find((word) => !/^(-.*|DEBUG|INFO|WARN|ERROR)$/.test(word))
const IS_RUN = COMMAND === "run" && !WORDS.some((word) => /^(-i|--interactive|--mini)$/.test(word))

// The session that this process continues, because hooks did not let it stop in the previous process.
const CONTINUED = process.env.TENTERHOOK_CONTINUED
delete process.env.TENTERHOOK_CONTINUED // tools do not need it

export const Tenterhook = async ({ client, directory }) => {
  const sessions = new Map() // by id: the main session and, in a subagent's, its own id and type
  const created = new Set() // sessions that began here; others are resumed
  const begun = new Set(CONTINUED ? [CONTINUED] : []) // sessions whose start was sent
  const prompts = new Map() // by session: the last prompt's message, which names agent and model
  const turns = new Map() // by main session, while it works
  const sentBack = new Map() // by session: the prompt with which we continued it
  const continuing = new Map() // by session of a subagent that was sent back: the session that waits for it
  const aborted = new Set() // messages
  const calls = new Map() // tool calls under way
  const denied = new Set() // tool calls
  const failures = new Map() // by part of a message: the error that the model sees
  const questions = new Map() // by id, as long as they are open
  const key = ({ sessionID, callID }) => `${sessionID} ${callID}`

  const lookUp = async (id) => {
    const { data } = await client.session.get({ path: { id } })
    if (!data?.parentID) return { session_id: id }
    return { ...(await about(data.parentID)), agent_id: id, agent_type: data.agent }
  }
  const about = (id) => {
    if (!sessions.has(id)) sessions.set(id, lookUp(id).catch(() => ({ session_id: id })))
    return sessions.get(id)
  }
  const show = (message) => {
    if (IS_RUN) process.stderr.write(`${message}\n`)
    else client.tui.showToast({ body: { message, variant: "warning" } }).catch(() => {})
  }
  const send = async (event, id, payload) => {
    if (!ENTRIES[event]) return {}
    const answer = await ask(event, { ...(await about(id)), cwd: directory, ...payload })
    if (answer.systemMessage) show(answer.systemMessage)
    return answer
  }
  const promptOf = (id, text) => {
    const { agent, model } = prompts.get(id)
    sentBack.set(id, text)
    return { path: { id }, body: { agent, model, variant: model.variant, parts: [{ type: "text", text }] } }
  }

  // Asks whether a main session may stop; resolves to the reason if it may not.
  const askToStop = async (id) => {
    const turn = turns.get(id)
    turns.delete(id)
    if (!turn?.isFinished) return // it failed, or the person ended it
    const payload = { stop_hook_active: turn.isContinued, last_assistant_message: turn.text }
    return (await send("session.idle", id, payload)).deny
  }
  // Continues a session in another process, because this one ends.
  const continueElsewhere = (id, reason) =>
    new Promise((resolve) => {
      const { agent, model } = prompts.get(id)
      const words = ["run", "--session", id, "--agent", agent, "--model", `${model.providerID}/${model.modelID}`]
      if (model.variant) words.push("--variant", model.variant)
      WORDS.forEach((word, at) => {
        const isValue = /^--(format|log-level)$/.test(WORDS[at - 1])
        if (isValue || /^--(auto|thinking|print-logs|format|log-level)(=.*)?$/.test(word)) words.push(word)
      })
      const env = { ...process.env, TENTERHOOK_CONTINUED: id }
      const child = spawn(process.execPath, words, { cwd: directory, env, stdio: ["pipe", "inherit", "inherit"] })
      child.on("error", (error) => { show(`Tenterhook could not go on with ${id}: ${error}`); resolve() })
      child.on("exit", (status) => { process.exitCode = status ?? 1; resolve() })
      child.stdin.on("error", () => {}) // it exited without reading stdin
      child.stdin.end(reason) // opencode would quote a prompt in the arguments
    })

  // Asks whether a subagent may end, and continues it until it may; its result is that of its last turn.
  const endSubagent = async (parent, output) => {
    const id = output.metadata?.sessionId
    if (!prompts.has(id) || output.metadata.background) return
    const ends = { stop_hook_active: false }
    ends.last_assistant_message = /<task_result>\n([^]*)\n<\/task_result>/.exec(output.output)?.[1]
    continuing.set(id, parent)
    for (;;) {
      const { deny } = await send("subagent.idle", id, ends)
      if (!deny || !continuing.has(id)) break
      const { data } = await client.session.prompt(promptOf(id, deny))
      const text = data?.parts.findLast((part) => part.type === "text")?.text ?? ""
      output.output = output.output.replace(/(?<=<task_result>\n)[^]*(?=\n<\/task_result>)/, () => text)
      Object.assign(ends, { stop_hook_active: true, last_assistant_message: text })
    }
    continuing.delete(id)
  }

  const answerQuestion = async ({ id: requestID, sessionID, permission, patterns, tool }) => {
    const call = calls.get(key({ sessionID, callID: tool?.callID }))
    const question = { permission_request_id: requestID, permission, patterns, tool_use_id: tool?.callID }
    Object.assign(question, { tool_name: call?.tool ?? permission, tool_input: call?.args ?? { patterns } })
    questions.set(requestID, question)
    const answer = call?.approve ? call : await send("permission.asked", sessionID, question)
    const reply = answer.deny ? "reject" : answer.approve && "once"
    // The client has no method for this; the one for a session's permissions takes no reason, and ends the turn.
    const to = { url: "/permission/{requestID}/reply", path: { requestID } }
    const headers = { "Content-Type": "application/json" }
    if (reply) await client._client.post({ ...to, headers, body: { reply, message: answer.deny } })
  }

  // Stores a changed part: a process that resumes the session sends the model what is stored.
  const store = async (part) => {
    const to = { url: "/session/{sessionID}/message/{messageID}/part/{partID}" }
    const path = { sessionID: part.sessionID, messageID: part.messageID, partID: part.id }
    const headers = { "Content-Type": "application/json" }
    try {
      const { error } = await client._client.patch({ ...to, path, headers, body: part })
      if (error) throw error
    } catch {
      show(`Tenterhook could not store what hooks made of an error of ${part.tool}`)
    }
  }

  // opencode has no event for a call that failed; hooks are asked when the error is stored.
  const reportFailure = (part) => {
    if (failures.has(part.id)) return
    const call = calls.get(key(part))
    calls.delete(key(part))
    const { input, error } = part.state
    const payload = { tool_name: part.tool, tool_input: input, tool_use_id: part.callID, error }
    const asked = async () => {
      const answer = await send("tool.execute.error", part.sessionID, payload)
      const texts = [answer.output ?? error, call?.context, answer.context]
      const shown = texts.filter((text) => text !== undefined).join("\n\n")
      if (shown !== error) await store({ ...part, state: { ...part.state, error: shown } })
      return shown
    }
    failures.set(part.id, denied.delete(key(part)) ? error : asked())
  }

  const observers = {
    "session.created": ({ info }) => created.add(info.id),
    "message.updated": async ({ sessionID: id, info: { id: message, role, finish, error } }) => {
      const isFinished = Boolean(finish && finish !== "tool-calls" && !error)
      if (role === "assistant" && turns.has(id)) turns.get(id).isFinished = isFinished
      if (error?.name !== "MessageAbortedError" || aborted.has(message)) return
      aborted.add(message)
      for (const [subagent, parent] of continuing) {
        if (parent === id && continuing.delete(subagent)) await client.session.abort({ path: { id: subagent } })
      }
      const isSubagent = Boolean((await about(id)).agent_id)
      if (!isSubagent) await send("session.aborted", id, { reason: error.data?.message })
    },
    "message.part.updated": ({ part }) => {
      if (part.type === "tool" && part.state.status === "error") reportFailure(part)
    },
    "permission.asked": (question) => { if (!IS_RUN) return answerQuestion(question) },
    "permission.replied": async ({ sessionID, requestID, reply }) => {
      const result = reply === "reject" ? { decision: "rejected" } : { decision: "approved" }
      if (reply !== "reject") result.scope = reply === "always" ? "session" : "once"
      await send("permission.replied", sessionID, { ...questions.get(requestID), ...result })
      questions.delete(requestID)
    },
    "session.idle": async ({ sessionID: id }) => {
      if (IS_RUN) return // see `dispose`
      const prompt = prompts.get(id)
      const reason = await askToStop(id)
      if (reason && prompts.get(id) === prompt) await client.session.promptAsync(promptOf(id, reason))
    },
    "session.error": async ({ sessionID: id, error }) => {
      const about = { error: error?.name, error_details: error?.data?.message }
      if (turns.has(id) && error?.name !== "MessageAbortedError") await send("session.error", id, about)
    },
  }

  return {
    event: async ({ event: { type, properties } }) => {
      const { sessionID, ...payload } = properties
      try {
        await (observers[type] ? observers[type](properties) : send(type, sessionID, payload))
      } catch (error) {
        show(`Tenterhook, at ${type}: ${error}`) // opencode does not await this handler
      }
    },
    "chat.message": async ({ sessionID: id }, { message, parts }) => {
      const isSubagent = Boolean((await about(id)).agent_id)
      const isResumed = id === CONTINUED && !prompts.has(id)
      const typed = parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = typed.map((part) => part.text).join("\n")
      const isOurs = isResumed || sentBack.get(id) === prompt
      sentBack.delete(id)
      prompts.set(id, message)
      const check = async (event, payload) => {
        const { deny, context } = await send(event, id, payload)
        if (deny && !isSubagent) show(deny) // opencode shows a server error
        if (deny) throw new Error(deny)
        const own = { sessionID: id, messageID: message.id, id: `${parts.at(-1)?.id ?? "prt_"}0` }
        if (context) parts.push({ ...own, type: "text", text: context, synthetic: true })
      }
      if (typed.length && !isOurs) {
        if (isSubagent) await check("subagent.created", { prompt })
        else {
          const source = created.has(id) ? "startup" : "resume"
          if (!begun.has(id)) await check("session.created", { source })
          begun.add(id)
          await check("chat.message", { prompt })
        }
      }
      if (!isSubagent) turns.set(id, { isContinued: isOurs })
    },
    "experimental.text.complete": async ({ sessionID }, { text }) => {
      if (turns.has(sessionID)) turns.get(sessionID).text = text
    },
    "tool.execute.before": async (input, output) => {
      const payload = { tool_name: input.tool, tool_input: output.args, tool_use_id: input.callID }
      const { deny, input: changed, ...rest } = await send("tool.execute.before", input.sessionID, payload)
      if (deny) {
        denied.add(key(input))
        throw new Error(deny) // the model sees it as the call's result
      }
      calls.set(key(input), { tool: input.tool, args: output.args, ...rest })
      if (!changed) return
      for (const name of Object.keys(output.args)) delete output.args[name] // in place: another object is ignored
      Object.assign(output.args, changed)
    },
    "tool.execute.after": async (input, output) => {
      const call = calls.get(key(input))
      calls.delete(key(input))
      if (input.tool === "task") await endSubagent(input.sessionID, output)
      const isText = typeof output.output === "string" // else the content of an MCP server's result
      const payload = { tool_name: input.tool, tool_input: input.args, tool_use_id: input.callID }
      payload.tool_response = isText ? output.output : { content: output.content }
      const answer = await send("tool.execute.after", input.sessionID, payload)
      if (answer.output !== undefined && isText) output.output = answer.output
      else if (answer.output !== undefined) output.content = answer.output.content
      for (const text of [call?.context, answer.context].filter(Boolean)) {
        if (isText) output.output += `\n\n${text}`
        else output.content.push({ type: "text", text })
      }
    },
    "experimental.chat.messages.transform": async (_, { messages }) => {
      for (const part of messages.flatMap((message) => message.parts)) {
        // the event that reports an error may come after the request that has it
        const isUnreported = part.state?.status === "error" && (calls.has(key(part)) || denied.has(key(part)))
        if (isUnreported) reportFailure(part)
        if (failures.has(part.id)) part.state = { ...part.state, error: await failures.get(part.id) }
      }
    },
    "experimental.session.compacting": async ({ sessionID }, output) => {
      const { context } = await send("experimental.session.compacting", sessionID, {})
      if (context) output.context.push(context)
    },
    dispose: async () => {
      await Promise.all(failures.values())
      for (const id of IS_RUN ? turns.keys() : []) {
        const reason = await askToStop(id)
        if (reason) return continueElsewhere(id, reason)
      }
      for (const id of begun) await send("dispose", id, { reason: "exit" })
    },
  }
}
