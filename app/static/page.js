// What the page does by itself: open cards, find quotes, keep the conversation in this tab, copy, note, themes.
// In: clicks and keys, and HTML that Gradio puts into #log, #live, #cards and #shelf. Out: attributes, focus, scrolling.
// Not known here: questions, papers, how anything is rendered. Nothing is fetched but api/health, and nothing sent but
// what a reader says of an answer, to api/feedback, where the server has asked for it.
"use strict";

const paperchat = (() => {
  const KEY = "paperchat.conversation";
  const UNANSWERED = "paperchat.unanswered";
  const NOTED = "paperchat.noted";
  const THEME = "paperchat.theme";
  const WATCH_EVERY = 1500; // ms
  const opened = new Map(); // card id -> whether it was opened or closed by hand
  let turn = null; // whose cards are shown
  let source = null; // the citation that was followed last
  let announced = "";
  let alone = false;
  let forgotten = ""; // what is still on the page of a conversation that was ended

  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);

  // --- The conversation, which only this tab has -----------------------------------------------------------------
  const kept = () => {
    try { return sessionStorage.getItem(KEY) ?? ""; } catch { return ""; }
  };
  const keep = (text) => {
    try { sessionStorage.setItem(KEY, text); } catch { /* full or forbidden: it lasts until a reload */ }
  };
  const forget = () => {
    try { sessionStorage.removeItem(KEY); } catch { /* nothing was kept */ }
    forgotten = byId("kept")?.textContent ?? "";
    opened.clear();
    turn = source = null;
    closePanel();
  };
  const isAlone = () => { // told once: the question that is about to be sent does not refer to those before it
    const told = alone;
    alone = false;
    return told ? "alone" : "";
  };
  const asked = () => $("#live .question")?.textContent ?? "";

  // --- The panel ---------------------------------------------------------------------------------------------------
  const isNarrow = () => matchMedia("(max-width: 899px)").matches;
  const panel = () => byId("panel");

  // Scrolls `box` alone; scrollIntoView would move the page as well.
  const scrollTo = (box, element, place = 0.3) => {
    const from = box.getBoundingClientRect(), to = element.getBoundingClientRect();
    const room = Math.max(12, (from.height - to.height) * place);
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    box.scrollTo({ top: box.scrollTop + to.top - from.top - room, behavior: calm ? "auto" : "smooth" });
  };
  const flash = (element) => {
    element.classList.remove("flash");
    void element.offsetWidth; // restarts the animation
    element.classList.add("flash");
  };
  const setOpen = (card, open) => {
    const toggle = $(".toggle", card), body = $(".body", card);
    if ((toggle.getAttribute("aria-expanded") === "true") !== open) toggle.setAttribute("aria-expanded", String(open));
    if (body.hidden === open) body.hidden = !open;
  };
  const showShelf = (number) => {
    if (number !== turn) panel().scrollTop = 0;
    turn = number;
    for (const shelf of $$("#panel .shelf")) {
      const shown = shelf.dataset.turn === number;
      if (shelf.hasAttribute("data-shown") !== shown) shelf.toggleAttribute("data-shown", shown);
    }
    for (const each of $$("#talk .turn")) {
      const current = each.dataset.turn === number;
      if (each.hasAttribute("data-current") !== current) each.toggleAttribute("data-current", current);
    }
  };
  const openPanel = () => document.body.toggleAttribute("data-panel", isNarrow());
  const closePanel = () => {
    if (!document.body.hasAttribute("data-panel")) return;
    document.body.removeAttribute("data-panel");
    source?.focus({ preventScroll: true });
  };
  const openCard = (id, markId, from) => {
    const card = byId(id);
    if (!card) return;
    source = from;
    showShelf(card.closest(".shelf").dataset.turn);
    for (const other of $$(".card", card.parentElement)) {
      opened.set(other.id, other === card);
      setOpen(other, other === card);
    }
    openPanel();
    $("#panel-bar span").textContent = $(".label", card).textContent;
    const mark = (markId && byId(markId)) || $("mark", card);
    for (const each of $$("mark[data-active]")) each.removeAttribute("data-active");
    const target = mark ?? $(".toggle", card);
    if (mark) { mark.setAttribute("data-active", ""); flash(mark); }
    target.focus({ preventScroll: true });
    scrollTo(panel(), target, mark ? 0.3 : 0);
  };
  const backTo = (id) => {
    const sentence = byId(id);
    if (!sentence) return;
    document.body.removeAttribute("data-panel");
    flash(sentence);
    ($(".cite", sentence) ?? sentence).focus({ preventScroll: true });
    scrollTo(byId("scroll"), sentence);
  };

  // --- After Gradio changed something --------------------------------------------------------------------------------
  const settle = () => {
    const store = byId("kept");
    if (store && store.textContent !== forgotten) keep(store.textContent);
    if (!store) forgotten = "";
    const live = $("#live .turn"), newest = live ?? $("#log .turn:last-of-type");
    if (live && live.dataset.turn !== turn && live.getAttribute("aria-busy") === "true") {
      showShelf(live.dataset.turn);
      scrollTo(byId("scroll"), live, 0);
    }
    if (!byId(`t${turn}`)) turn = null; // of a conversation that was ended
    showShelf(turn ?? newest?.dataset.turn ?? null);
    markNoted();
    for (const [id, open] of opened) { const card = byId(id); if (card) setOpen(card, open); }
    document.body.toggleAttribute("data-empty", !$("#panel .shelf"));
    announce(live);
    watch();
  };
  const announce = (live) => {
    if (!live || live.getAttribute("aria-busy") === "true") return;
    const said = $$(".lead, .refusal, .notice, .sentence", live).map((part) => {
      const copy = part.cloneNode(true);
      for (const button of $$("button, math", copy)) {
        button.replaceWith(button.matches("math") ? ` ${button.textContent} ` : ` [${button.textContent}]`);
      }
      return copy.textContent;
    }).join(" ");
    if (announced === live.id + said || !byId("status")) return;
    announced = live.id + said;
    byId("status").textContent = said;
  };

  // --- While nothing can be asked, or an answer is awaited ------------------------------------------------------------
  // A server that ends while it answers tells nobody: its page would wait for ever.
  let watching = null;
  const awaited = () => $("[data-waiting]") ?? $('#live .turn[aria-busy="true"]');
  const watch = () => {
    if (watching || !awaited()) return;
    watching = setTimeout(async () => {
      let status = null;
      try {
        const answer = await fetch(new URL("api/health", document.baseURI), { cache: "no-store" });
        ({ status } = await answer.json());
      } catch { /* the server is away; look again */ }
      watching = null;
      const waiting = $("[data-waiting]");
      if (waiting && status && status !== waiting.dataset.waiting) byId("renew").click();
      if (!waiting && awaited()) bridge(status);
      watch();
    }, WATCH_EVERY);
  };
  let lost = false;
  const bridge = (status) => {
    if (!status) {
      lost = true;
      const pending = $("#live .pending");
      if (pending) pending.textContent = "The server is away. The page goes on when it is back.";
    } else if (lost) {
      try { sessionStorage.setItem(UNANSWERED, asked()); } catch { /* the question is lost */ }
      location.reload();
    }
  };
  const takeUp = () => {
    try {
      const question = sessionStorage.getItem(UNANSWERED);
      sessionStorage.removeItem(UNANSWERED);
      if (question) type(question);
    } catch { /* nothing was kept */ }
  };

  // --- Copy and save -------------------------------------------------------------------------------------------------
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // not allowed where the page is not served from this machine or over https
      const area = document.createElement("textarea");
      area.value = text;
      area.className = "unseen";
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };
  const exported = (button) => $(`[data-export="${button.dataset.kind}"]`, button.closest(".shelf")).textContent;
  const say = (button, word) => {
    const before = button.textContent;
    if (button.dataset.said) return;
    button.dataset.said = "1";
    button.textContent = word;
    byId("status").textContent = word;
    setTimeout(() => { button.textContent = before; delete button.dataset.said; }, 1500);
  };
  const save = (button) => {
    const kind = button.dataset.kind;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([exported(button)], { type: "text/plain;charset=utf-8" }));
    link.download = kind === "bibtex" ? "papers.bib" : "papers.md";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // --- What a reader says of an answer, told to the server once -------------------------------------------------------
  const TURNS = 10; // before the question, at most
  const noted = new Set();
  try { for (const told of JSON.parse(sessionStorage.getItem(NOTED)) ?? []) noted.add(told); } catch { /* none yet */ }
  const nameOf = (button) => `${button.dataset.kind} ${button.closest(".feedback").dataset.key}`;
  const markNoted = () => {
    for (const button of $$("#talk .note")) {
      const pressed = String(noted.has(nameOf(button)));
      if (button.getAttribute("aria-pressed") !== pressed) button.setAttribute("aria-pressed", pressed);
    }
  };
  const answerOf = (turn) => { const sent = $(".sent", turn); return sent && JSON.parse(sent.textContent); };
  const turnsBefore = (turn) => {
    if ($(".feedback", turn).hasAttribute("data-alone")) return [];
    const turns = $$("#talk .turn"), answers = turns.slice(0, turns.indexOf(turn)).map(answerOf);
    // As the server has it when it answers: what says nothing and cites nothing gives a follow-up nothing to refer to.
    return answers.filter((answer) => answer && (answer.status === "answered" || answer.papers.length)).flatMap(
      (answer) => [{ role: "user", content: answer.question },
        { role: "assistant", content: answer.text, papers: answer.papers.map((paper) => paper.id) }]).slice(-TURNS);
  };
  const send = async (told) => { // why it was not kept, "" when it was
    try {
      const answer = await fetch(new URL("api/feedback", document.baseURI), { method: "POST",
        headers: { "Content-Type": "application/json" }, body: JSON.stringify(told) });
      return answer.ok ? "" : (await answer.json()).detail;
    } catch {
      return "the server is away.";
    }
  };
  const note = async (button) => {
    const name = nameOf(button), turn = button.closest(".turn"), hint = $(".where", turn);
    if (noted.has(name)) { say(button, "Noted"); return; }
    noted.add(name); // now, so that a second click sends nothing
    const why = await send({ kind: button.dataset.kind, answer: answerOf(turn), history: turnsBefore(turn) });
    if (why) noted.delete(name);
    try { sessionStorage.setItem(NOTED, JSON.stringify([...noted])); } catch { /* it lasts until a reload */ }
    markNoted();
    if (why) hint.textContent = `Could not be noted: ${why.replace(/^could not be noted: /, "")}`;
    say(button, why ? "Could not be noted" : "Noted");
  };

  // --- Clicks and keys -----------------------------------------------------------------------------------------------
  const type = (question) => {
    const area = $("#box textarea");
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(area), "value").set.call(area, question);
    area.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const ask = (question) => {
    type(question);
    setTimeout(() => byId("ask").click(), 50); // Gradio takes the value over first
  };
  const clicks = {
    ".cite": (it) => openCard(it.dataset.card, it.dataset.mark, it),
    ".open-card": (it) => openCard(it.dataset.card, null, it),
    ".toggle": (it) => {
      const card = it.closest(".card"), open = it.getAttribute("aria-expanded") !== "true";
      opened.set(card.id, open);
      setOpen(card, open);
    },
    ".back": (it) => backTo(it.dataset.sentence),
    ".show-shelf": (it) => { source = it; showShelf(it.closest(".turn").dataset.turn); openPanel(); panel().scrollTop = 0;
      $("#panel-bar span").textContent = "";
      $("#panel .shelf[data-shown] .toggle")?.focus({ preventScroll: true }); },
    ".alone": (it) => { alone = true; ask($(".question", it.closest(".turn")).textContent); },
    "#close-panel": closePanel,
    ".example": (it) => ask(it.textContent),
    ".copy": async (it) => { await copy(exported(it)); say(it, "Copied"); },
    ".save": save,
    ".note": note,
    "#theme": () => setTheme(document.body.classList.contains("dark") ? "light" : "dark"),
  };
  document.addEventListener("click", (event) => {
    for (const [selector, act] of Object.entries(clicks)) {
      const found = event.target.closest?.(selector);
      if (found) { act(found); return; }
    }
    if (!event.target.closest?.("#panel")) closePanel();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") closePanel();
    // Enter that chooses a Chinese or Japanese word does not send the question.
    if (event.key === "Enter" && (event.isComposing || event.keyCode === 229)) event.stopPropagation();
  }, true);

  // --- Light and dark: the system's, until one is chosen -------------------------------------------------------------
  const setTheme = (theme) => {
    document.body.classList.toggle("dark", theme === "dark");
    try { localStorage.setItem(THEME, theme); } catch { /* it lasts until a reload */ }
  };
  const chosenTheme = () => {
    try { return localStorage.getItem(THEME); } catch { return null; }
  };

  const name = (id, role, label) => {
    const element = byId(id);
    element?.setAttribute("role", role);
    element?.setAttribute("aria-label", label);
  };
  const start = () => {
    name("talk", "region", "Conversation");
    name("panel", "complementary", "Papers");
    byId("scroll").tabIndex = 0; // scrollable with the keyboard
    panel().tabIndex = 0;
    if (chosenTheme()) setTheme(chosenTheme());
    const bar = document.createElement("div"), close = document.createElement("button");
    bar.id = "panel-bar";
    bar.append(document.createElement("span"), close);
    Object.assign(close, { id: "close-panel", type: "button", textContent: "×" });
    close.setAttribute("aria-label", "Close the papers");
    panel().prepend(bar);
    const observer = new MutationObserver(settle);
    for (const id of ["log", "live", "cards", "shelf"]) observer.observe(byId(id), { childList: true, subtree: true,
      characterData: true, attributes: true, attributeFilter: ["aria-busy", "data-turn", "aria-expanded", "hidden", "data-shown"] });
    settle();
    takeUp();
  };
  const waitForPage = setInterval(() => {
    if (!["log", "live", "cards", "shelf", "panel", "scroll"].every(byId)) return;
    clearInterval(waitForPage);
    start();
  }, 30);

  return { kept, asked, forget, isAlone };
})();
