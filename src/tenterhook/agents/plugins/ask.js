import { spawn } from "node:child_process"

// Have Tenterhook answer an event; `variables` are more of its environment. Resolves with what the plug-in is to do, each
// only if it was decided: deny, ask, approve, input, output, context, systemMessage. It never rejects, and takes no longer
// than the entry's timeout.
function ask(event, payload, variables = {}) {
  const entry = ENTRIES[event]
  if (!entry) return Promise.resolve({})
  return new Promise((resolve) => {
    let child, late, stdout = "", stderr = "", status = null
    const failed = (why) => {
      clearTimeout(late)
      const isClosed = entry.command.endsWith("|| exit 2")
      if (isClosed) resolve({ deny: `Tenterhook ${why}: this is refused` })
      else resolve({ systemMessage: stderr.trim() || `Tenterhook ${why}: hooks did not run` })
    }
    const end = () => {
      clearTimeout(late)
      child.stdout.destroy()
      child.stderr.destroy()
      if (status === 2) return resolve({ deny: stderr.trim() || "Blocked by a hook" })
      if (status !== 0) return failed(`could not answer (status ${status})`)
      try {
        resolve(Object(stdout.trim() ? JSON.parse(stdout) : {}))
      } catch {
        failed("gave no readable answer")
      }
    }
    // without what would act on the shell before it does anything
    const env = Object.entries(process.env).filter(([name]) => !/^(ENV|SHELLOPTS|BASHOPTS|BASH_.*)$/.test(name))
    try {
      // a process group of its own, so that all of it can be ended
      const options = { detached: true, stdio: "pipe", env: { ...Object.fromEntries(env), ...variables } }
      child = spawn("/bin/sh", ["-c", entry.command], options)
      child.on("error", () => failed("could not be started"))
      child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text))
      child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text))
      // Another process may hold its pipes. What it wrote itself is in them by now, and is read before `setImmediate`.
      child.on("exit", (code) => { status = code; setTimeout(() => setImmediate(end), 200) })
      child.on("close", end)
      child.stdin.on("error", () => {}) // it ended without reading
      child.stdin.end(JSON.stringify({ hook_event_name: event, ...payload }))
      late = setTimeout(() => {
        try { process.kill(-child.pid, "SIGKILL") } catch {} // it has ended
        failed("did not answer in time")
      }, entry.timeout * 1000)
    } catch {
      failed("could not be started")
    }
  })
}
