const ENTRIES = {}
// @include ask.js

const textOf = (content) => content.filter((part) => part.type === "text").map((part) => part.text).join("\n")

export default function (pi) {
  let waiting = [] // text for the model that goes with the next prompt
  let sentBack = false // whether a hook has sent the agent back since the last prompt

  const decide = (event, ctx, more = {}) => {
    const about = { session_id: ctx.sessionManager.getSessionId(), cwd: ctx.cwd, ...more }
    return ask(event, about, ctx.hasUI ? {} : { PI_UNATTENDED: "1" })
  }
  // Only what has an entry is registered: pi waits for each handler.
  const on = (event, handler) => { if (ENTRIES[event]) pi.on(event, handler) }
  const callOf = (event) => ({ tool_name: event.toolName, tool_input: event.input, tool_use_id: event.toolCallId })

  on("session_start", async (event, ctx) => {
    const said = await decide("session_start", ctx, { source: event.reason })
    if (said.context) waiting.push(said.context)
  })
  on("session_shutdown", (event, ctx) => decide("session_shutdown", ctx, { reason: event.reason }))
  on("input", async (event, ctx) => {
    sentBack = false
    const said = await decide("input", ctx, { prompt: event.text })
    if (said.deny) {
      if (ctx.hasUI) ctx.ui.notify(said.deny, "error")
      else console.error(said.deny)
      return { action: "handled" }
    }
    if (said.context) waiting.push(said.context)
    return { action: "continue" }
  })
  pi.on("before_agent_start", () => {
    const content = waiting.join("\n\n")
    waiting = []
    if (content) return { message: { customType: "tenterhook", content, display: false } }
  })
  on("tool_call", async (event, ctx) => {
    const said = await decide("tool_call", ctx, callOf(event))
    if (said.deny) return { block: true, reason: said.deny }
    if (said.ask && !(ctx.hasUI && (await ctx.ui.confirm(`Run ${event.toolName}?`, said.ask)))) return { block: true, reason: said.ask }
    if (said.input) {
      for (const key of Object.keys(event.input)) delete event.input[key] // in place: pi ignores another object
      Object.assign(event.input, said.input)
    }
    if (said.context) pi.sendMessage({ customType: "tenterhook", content: said.context, display: false }, { deliverAs: "steer" })
  })
  const afterTool = async (event, ctx) => {
    const text = textOf(event.content)
    const [name, result] = event.isError ? ["tool_error", { error: text }] : ["tool_result", { tool_response: text }]
    const said = await decide(name, ctx, { ...callOf(event), ...result })
    const others = event.content.filter((part) => part.type !== "text")
    const content = said.output === undefined ? event.content : [{ type: "text", text: said.output }, ...others]
    const added = [said.deny, said.context].filter(Boolean).map((text) => ({ type: "text", text }))
    if (content !== event.content || added.length) return { content: [...content, ...added], details: {} }
  }
  if (ENTRIES.tool_result || ENTRIES.tool_error) pi.on("tool_result", afterTool)
  on("agent_before_settle", async (event, ctx) => {
    if (event.outcome !== "completed") return
    const said = await decide("agent_before_settle", ctx, { stop_hook_active: sentBack })
    if (!said.deny) return
    sentBack = true
    const message = { type: "custom_message", customType: "tenterhook", content: said.deny, display: true }
    return { entries: [...event.entries, message], continue: true }
  })
  on("message_end", async (event, ctx) => {
    const { role, stopReason, errorMessage } = event.message
    if (role === "assistant" && stopReason === "error") await decide("message_end", ctx, { error: "error", error_details: errorMessage })
  })
  on("session_before_compact", async (event, ctx) => {
    const said = await decide("session_before_compact", ctx, { trigger: event.reason })
    if (said.deny) return { cancel: true }
  })
  on("session_compact", (event, ctx) => decide("session_compact", ctx, { trigger: event.reason }))
}
